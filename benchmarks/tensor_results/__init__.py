"""What `record_tensor_results.py` runs and compares, family by family."""
