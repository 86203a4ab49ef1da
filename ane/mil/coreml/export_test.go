package coreml

// Read reads a protobuf.
func Read(data []byte) (*Model, error) { return read("model.mlmodel", "model", data) }
