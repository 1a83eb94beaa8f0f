"""From a .cu file and some tensors to a finished launch, on a GPU or on the simulator."""
