"""Distances between two pictures: LPIPS, and L2, PSNR, SSIM and MS-SSIM, which need no weights."""
