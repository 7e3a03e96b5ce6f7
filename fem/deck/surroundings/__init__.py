"""What a model stands in: cards of water and wind, and of the loads they bring."""
