"""The demo: fake-driver clouds, queue managers, and a trace played under several policies."""
