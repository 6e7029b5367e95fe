"""What a study found, as a page to read and files to print: text, tables and figures from findings."""
