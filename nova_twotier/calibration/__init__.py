"""`twotier-calibrate`: what two CPU tiers cost the foreground and give the background of a host."""
