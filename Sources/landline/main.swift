print("landline")
