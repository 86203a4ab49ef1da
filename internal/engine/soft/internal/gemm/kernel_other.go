//go:build !amd64 && !arm64

package gemm

// The portable code is used, and so none of these is called.

func tile(*float32, *float32, *float32, int, int, int, bool, bool)                            {}
func line(*float32, *float32, *float32, int, int, bool, bool)                                 {}
func band(*float32, *float32, *float32, int, int, bool, bool)                                 {}
func fixedTile(*int32, *float32, *float32, *int32, *float32, int, int, int, bool, bool, bool) {}
