"""Assembly: the only room that knows every other one."""
