"""Every row of the simulator's tables as PTX, on a GPU and on the simulator, bit for bit."""
