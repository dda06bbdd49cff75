"""`python -m nova_twotier.tools.faults`."""

import sys

from nova_twotier.tools.faults.cli import main

if __name__ == "__main__":
    sys.exit(main())
