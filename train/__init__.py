"""Training: one algorithm a file, and the command `python train/selfplay.py`."""
