"""What every room uses: texts, times, permissions, optional packages. It imports nothing from rooms."""
