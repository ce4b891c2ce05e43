"""What a count question may say: conditions and SQL, and what they mean in the words of a release."""
