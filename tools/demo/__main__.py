"""`python -m nova_twotier.tools.demo`."""

import sys

from nova_twotier.tools.demo.cli import main

if __name__ == "__main__":
    sys.exit(main())
