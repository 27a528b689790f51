"""Running mechanisms: reading values, drawing exact noise around them, and saying how far it reaches."""
