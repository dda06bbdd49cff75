"""`python -m nova_twotier.sim.cli`, where nothing is installed."""

import sys

from nova_twotier.sim.cli import main

sys.exit(main())
