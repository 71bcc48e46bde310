"""Making of the shipped encoders and the judge."""
