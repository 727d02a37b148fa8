"""What training minimises, and the score by which it chooses a checkpoint."""
