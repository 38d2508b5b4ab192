"""What a protection buys, what it costs, and what it does not stop."""
