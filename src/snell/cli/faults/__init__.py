"""`snell test --faults`: run hooks while something goes wrong, and say what their users would see."""
