"""Models that are fitted to responses: psychometric functions, staircases, strengths, crossed effects."""
