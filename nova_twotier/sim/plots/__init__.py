"""Plots of results, each as a PNG and as an HTML file that needs nothing else."""
