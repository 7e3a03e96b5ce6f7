"""What is watched while a step goes on."""
