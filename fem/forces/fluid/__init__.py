"""Water and wind that flow past bars: drag, buoyancy of bars that are not wholly wet."""
