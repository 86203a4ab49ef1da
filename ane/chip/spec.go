package chip

// Spec holds the figures of one Chip. A Fact that is not Known is not published for that chip, nor can it be
// inferred from its neighbors.
type Spec struct {
	Chip

	// What the engine is.
	DescriptorVersion Fact[int]     // of the compiler's output
	CPUSubtype        Fact[int]     // of the compiler's output
	Engines           Fact[int]     // engines that one program can be split over
	Clock             Fact[Span]    // of the neural engine in MHz, from idle to full
	ZeroWeights       Fact[bool]    // weights in the sparse format skip products with zero
	Trigonometry      Fact[bool]    // sin and cos are accepted
	SoftplusEnd       Fact[float64] // from this operand on softplus gives 0
	ExactSlice        Fact[bool]    // a last-axis slice with an offset keeps values; else it scales by 16 on the way

	// How fast it is.
	Peak            Fact[Span] // fp16 TFLOPS that programs reach, all engines
	WeightRate      Fact[Span] // weights read from memory, GB/s, all engines together
	ActivationRate  Fact[Span] // activations moved, GB/s of one engine
	CallOverhead    Fact[Span] // of one evaluate, microseconds
	LinuxCall       Fact[Span] // of one call of the Linux driver, microseconds; the others are of macOS
	FirstCallExtra  Fact[Span] // of the first evaluate after the engine was powered off, milliseconds
	DenseRate       Fact[Span] // TFLOPS of the anchor model: time = overhead + max(flops/rate, bytes/bandwidth)
	AnchorBandwidth Fact[Span] // GB/s of the anchor model

	// What the compiler accepts.
	Limits
}

// Limits are the largest sizes that the compiler accepts.
type Limits struct {
	KernelWidth   Fact[int]  // of a convolution
	KernelHeight  Fact[int]  // of a convolution
	KernelSquare  Fact[int]  // of a convolution whose kernel is as high as wide
	RewrittenFrom Fact[int]  // kernels of this width and wider are rewritten to stride 2, which is slow
	PoolWidth     Fact[int]  // of the window of max_pool
	AvgPoolWidth  Fact[int]  // of the window of avg_pool; the largest that was tried
	MatmulInner   Fact[int]  // length of the axis that matmul sums over
	Axis          Fact[int]  // length of any axis but channels
	Channels      Fact[int]  // length of the channel axis
	ConvChannels  Fact[int]  // input channels of a convolution
	Rank          Fact[int]  // of any tensor
	MatmulRank    Fact[int]  // of the operands of matmul
	DynamicBatch  Fact[int]  // batch of a convolution whose weight is no constant
	Attention     Fact[int]  // positions in native scaled_dot_product_attention
	AttentionLeg  Fact[int]  // the shorter of queries and keys in it stays below
	LRNChannels   Fact[int]  // of local_response_norm
	Chain         Fact[int]  // 1x1 convolutions in a row
	TopK          Fact[bool] // topk compiles directly
	BlockInt4     Fact[bool] // int4 weights with a scale per block compile
	Palette3      Fact[bool] // 3-bit palettes are stored as such, not as 4 bits
	UnusedInput   Fact[bool] // a program may leave an input unused

	// Budgets. Those of loaded programs are the machine's: all processes share them.
	Loaded       Fact[int]   // programs loaded at once, as large ones allow
	Slots        Fact[int]   // programs loaded at once, however small
	WeightBytes  Fact[int64] // weights of one program, roughly
	SurfaceBytes Fact[int64] // of one surface
	MinSurface   Fact[int64] // bytes of a surface below which an evaluate may fail with 0x1d

	// The hardware.
	Cores        Fact[int]   // of one engine
	CoreWeights  Fact[int64] // weights that a core holds, bytes
	OperandBytes Fact[int64] // the largest operand on the chip, bytes
	StreamBytes  Fact[int64] // weights streamed, bytes
	TaskReads    Fact[int]   // tensors in memory that one task reads; more cost extra tasks
}

// Spec returns the figures of c, all unknown if c is not valid. The caller may change its copy.
func (c Chip) Spec() Spec {
	s := Spec{Chip: c}
	if !c.Valid() {
		return s
	}
	s.identity()
	s.speed()
	s.kernels()
	s.sizes()
	s.formats()
	s.budgets()
	s.hardware()
	return s
}

// at returns the entry of c in a table of M1 to M6.
func at[T any](c Chip, facts [6]T) T { return facts[c-M1] }
