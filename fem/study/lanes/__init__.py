"""Models that differ in numbers only march side by side in SIMD lanes."""
