//go:build !amd64

package gemm

// No kernel is AVX2 or wider, and so none of these is called.

func walkTile(*float64, *float32, *int32, *float32, int, int, int, bool, bool, bool) {}

func stripTile(int, *float32, *float32, *float32, int, int, int, int, bool) {}
func halfTile(int, *float32, *float32, *float32, int, int, int, int, bool)  {}
func stripFloats(*float32, *float32, int, int, int, int, int)               {}
func stripHalves(*float32, *half, int, int, int, int, int)                  {}
func stripTurned(*float32, *half, int, int)                                 {}
func decodeRows(*float32, *half, int, int, int, int)                        {}
func fetchRows(*half, int, int, int)                                        {}
func dotRows(int, *float32, int, *float32, int, *half, int, int, int)       {}
func addEights(*float32, *float32, int)                                     {}
func addEach(*float32, *float32, int)                                       {}
func halfLines(*float32, *float32, *half, int, int, int)                    {}
func pickSixes(*float32, *half, int, int)                                   {}
func decodeLines(*float32, *half, *half, int, int, int, int, int)           {}
func turnEights(*float32, *float32, int, int, int, int)                     {}

func pickedTile(int, *float32, *float32, *int32, *int32, *float32, int, int, int, bool) {}
func pickedHalf(int, *float32, *float32, *int32, *int32, *float32, int, int, int, bool) {}
