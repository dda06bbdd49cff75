"""Plays a trace against the live system, and shows what Nova and Placement really did."""
