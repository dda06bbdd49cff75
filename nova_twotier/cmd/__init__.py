"""Entry points."""

import sys
import warnings

if not sys.warnoptions:
    # futurist, a library of oslo.messaging, imports Eventlet where it is installed; we do not use
    # it. Its class of warnings cannot be named here without importing it.
    warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
