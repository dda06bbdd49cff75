"""The papers' tables and figures, run anew: our numbers beside the printed ones."""
