"""How the attack on one person is told."""
