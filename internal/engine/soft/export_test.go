package soft

// PackFrom sets how many elements a weight with scales for blocks has at least if it stays packed. Products read it as
// it is stored, instead of expanding it when compiling. 1 keeps all packed, math.MaxInt none. The default is 4,096.
func PackFrom(elements int) Option { return func(e *engine) { e.packFrom = max(elements, 1) } }
