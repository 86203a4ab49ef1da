package chip

import "fmt"

// one is a Span of a single figure.
func one(v float64) Span { return Span{v, v} }

func (s *Spec) identity() {
	const study, guide = "study, appendix of targets", "guide"
	s.DescriptorVersion = stated(at(s.Chip, [6]int{7, 11, 8, 17, 19, 24}), study)
	s.CPUSubtype = stated(at(s.Chip, [6]int{4, 5, 6, 7, 9, 11}), study)
	s.Engines = stated(at(s.Chip, [6]int{1, 1, 1, 1, 1, 2}), study)
	s.Clock = at(s.Chip, [6]Fact[Span]{
		stated(one(1140), guide), {}, {}, stated(Span{0, 2364}, "study, table of clocks"), stated(one(1890), guide),
		measured(Span{852, 2580}, "study 11"),
	})
	s.ZeroWeights = at(s.Chip, [6]Fact[bool]{
		stated(true, guide+": the bit is present"), inferred(true, "as M1"), inferred(true, "as M1 and M4"),
		measured(true, "study"), stated(true, "study"), measured(true, "study"),
	})
	s.Trigonometry = at(s.Chip, [6]Fact[bool]{
		stated(false, guide), stated(false, guide), stated(true, guide), stated(true, guide), stated(true, guide),
		stated(true, "study"),
	})
	overflow := inferred(11.09, "where exp leaves fp16; not measured there")
	s.SoftplusEnd = at(s.Chip, [6]Fact[float64]{
		overflow, overflow, measured(10.395, "coremltools #2687, on M3 Max"),
		measured(10.408, "coremltools #2687, confirmed on M4"),
		measured(10.4, "dump m5max-27-operators: wrong above about 10.4; forge: 0 at 11"), overflow,
	})
	s.ExactSlice = at(s.Chip, [6]Fact[bool]{
		measured(false, guide), measured(false, guide), stated(true, guide), inferred(true, "as M3 and M5"),
		measured(true, guide), inferred(true, "as M5"),
	})
}

func (s *Spec) speed() {
	s.Peak = at(s.Chip, [6]Fact[Span]{
		stated(one(12), "guide"), {}, {}, measured(Span{15.5, 18.5}, "study 7.2"), stated(one(19.6), "guide"),
		measured(Span{20.6, 39.5}, "study 7.2: one engine, both"),
	})
	s.WeightRate = at(s.Chip, [6]Fact[Span]{
		stated(one(51), "guide"), measured(one(48), "forge"), {}, measured(one(67), "study 7.5"),
		stated(one(145), "guide"), measured(one(150), "study 9.3"),
	})
	s.ActivationRate = at(s.Chip, [6]Fact[Span]{
		stated(one(24), "guide"), {}, {}, {}, stated(one(24), "guide"), measured(Span{34, 36}, "study 9.4"),
	})
	s.CallOverhead = at(s.Chip, [6]Fact[Span]{
		measured(Span{190, 230}, "guide, forge"), measured(one(100), "forge"), {}, measured(Span{90, 160}, "study"),
		measured(Span{70, 117}, "guide, forge"), measured(Span{180, 350}, "study 6: 30 and completion of 150 to 320"),
	})
	s.LinuxCall = at(s.Chip, [6]Fact[Span]{
		measured(Span{24.8, 33.2}, "dump linux-m1-submit-times: submits of small programs"),
		measured(one(257), "dump linux-m2max-call-times: an add on M2 Max"),
	})
	s.FirstCallExtra = at(s.Chip, [6]Fact[Span]{
		measured(one(260), "guide"), {}, {}, {}, {}, measured(one(50), "study 12.5"),
	})
	s.DenseRate = at(s.Chip, [6]Fact[Span]{
		measured(one(3.25), "forge"), measured(one(7.3), "forge: times min(1, (flops/1.8e10)^0.38)"), {},
		inferred(Span{15.5, 18.8}, "study 7.2"), measured(one(8.9), "forge: fused chains reach 19"),
		measured(Span{20.6, 39.5}, "study 7.2"),
	})
	s.AnchorBandwidth = at(s.Chip, [6]Fact[Span]{
		measured(one(9), "forge: weights stream at 40 to 51"), measured(one(48), "forge"), {}, measured(one(67),
			"study 7.5"),
		measured(one(57), "forge: fused chains reach 145"), measured(one(150), "study 9.3"),
	})
}

func (s *Spec) kernels() {
	const study = "study, compiles for h16g and h18g"
	s.KernelWidth = at(s.Chip, [6]Fact[int]{
		measured(13, "forge"), inferred(13, "as M1, its twin"), inferred(15, "as M4"), measured(15, study),
		measured(15, "forge"), measured(15, study),
	})
	s.KernelHeight = at(s.Chip, [6]Fact[int]{
		stated(29, "guide"), inferred(29, "as M1, its twin"), inferred(31, "as M4"), compiled(31, study),
		inferred(31, "as M4 and M6"), compiled(31, study),
	})
	s.KernelSquare = at(s.Chip, [6]Fact[int]{
		inferred(13, "the width"), inferred(13, "the width"), inferred(15, "as M4"), compiled(15, study),
		inferred(15, "as M4 and M6"), compiled(15, study),
	})
	if s.Chip >= M4 {
		s.RewrittenFrom = compiled(9, "study 7.4")
	}
	s.PoolWidth, s.AvgPoolWidth = s.like(M4, M6, compiled(8, study)), s.like(M4, M6, compiled(14, study))
	s.Chain = at(s.Chip, [6]Fact[int]{
		{}, {}, {}, compiled(512, "study 5.10: the most that was tried, 448 ran"), {}, measured(386, "study 5.10"),
	})
}

// like returns a limit that was found on two chips and is taken for the others too.
func (s *Spec) like(a, b Chip, found Fact[int]) Fact[int] {
	if s.Chip == a || s.Chip == b {
		return found
	}
	return inferred(found.Value, fmt.Sprintf("as M%d and M%d", a, b))
}

func (s *Spec) sizes() {
	const study = "study, compiles for h16g and h18g"
	s.MatmulInner = s.like(M4, M6, compiled(32768, study+"; 40000 fails"))
	s.Axis = at(s.Chip, [6]Fact[int]{
		stated(16384, "guide: before A16"), stated(16384, "guide: before A16"), stated(65536, "guide: from A16"),
		compiled(65536, study), stated(65536, "guide: from A16"), compiled(65536, study),
	})
	s.Channels = stated(65536, "guide")
	if s.Chip == M4 || s.Chip == M6 {
		s.Channels = compiled(65536, study)
	}
	s.ConvChannels = measured(31999, "gpt, maderix: 32000 outputs work, 32000 inputs do not")
	s.Rank = stated(5, "the compiler's message: Cannot reshape a tensor of rank > 5")
	s.MatmulRank = stated(4, "the compiler's message: depth > 1 is not supported for MatMult")
	forge := func(v int) Fact[int] { return s.like(M1, M5, measured(v, "forge")) }
	s.DynamicBatch, s.Attention, s.AttentionLeg, s.LRNChannels = forge(1), forge(2048), forge(512), forge(15)
}

func (s *Spec) formats() {
	s.TopK = at(s.Chip, [6]Fact[bool]{
		{}, {}, {}, compiled(false, "study: rc 22"), measured(true, "forge"), compiled(true, "study"),
	})
	if s.Chip == M6 {
		s.BlockInt4 = measured(false, "study 7.5: with the parameters tried")
		s.UnusedInput = stated(false, "study, opvariants.py")
	}
	s.Palette3 = stated(s.Chip == M6, "study 15.3")
}

func (s *Spec) budgets() {
	s.Loaded = measured(55, "ironmill, on M3 Pro")
	const dumps = "dump m5max-27.0.1-program-pool: loads fail with 0x5 at 115 to 118 programs of the machine"
	s.Slots = at(s.Chip, [6]Fact[int]{
		inferred(115, "as M5"), inferred(115, "as M5"), inferred(115, "as M5"), measured(126, "mlxfast, on M4 Max"),
		measured(115, dumps), inferred(115, "as M5"),
	})
	s.WeightBytes = measured(int64(8<<20), "ironmill, on M3 Pro: about 8 MB")
	s.SurfaceBytes = stated(int64(256<<20), "rane")
	s.MinSurface = measured(int64(49152), "orion, on M4: C > 768 with S < 32 fails")
}

func (s *Spec) hardware() {
	const tables = "study 5.4: shared by the tables of h13 to h19"
	s.Cores = stated(16, tables)
	s.CoreWeights = stated(int64(64<<10), tables)
	s.OperandBytes = stated(int64(2<<20), tables)
	s.StreamBytes = stated(int64(16<<20), tables)
	if s.Chip == M6 {
		s.TaskReads = compiled(2, "study 9.4")
	}
}
