"""What users see of jobs."""
