//go:build !amd64

package spatial

// The machine is not quick, and so none of these is called.

func spreadFloats(int, *spreading)                                {}
func spreadKeys(int, *spreading)                                  {}
func spreadDoubles(int, *spreading)                               {}
func slideFloats(*sliding)                                        {}
func slideKeys(*sliding)                                          {}
func slideDoubles(*sliding)                                       {}
func sumLanes(*float64, *uint16, *[8]uint16, int, int, int, int)  {}
func quotients(*uint16, *float64, float64, int)                   {}
func mixLines(*uint16, *float64, *float64, float64, float64, int) {}
func repeatEach(*repeating)                                       {}

func spreadUnits(int, *spreading) {}
func slideUnits(*sliding)         {}
