package decoder

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Groups of every width, with scales of both types, and modules that differ from the others.
func TestPackedWeights(t *testing.T) {
	effort.SkipShort(t)
	for i, bits := range []int{2, 3, 4, 5, 6, 8} {
		for seed, dtype := range []safetensors.DType{safetensors.F16, safetensors.BF16} {
			families := decodertest.Families()
			s := decodertest.Spec{Family: families[(2*i+seed)%len(families)], Bits: bits, DType: dtype,
				Seed: uint64(seed), Tied: i%2 == 0, Group: 32 << (i % 2), Intermediate: 128}
			if seed == 1 {
				s.Overrides = map[string]int{"model.layers.1.mlp.down_proj": 8, "model.layers.0.self_attn.v_proj": 0}
			}
			for f, form := range []Form{Engine, Compact} {
				if n := 2*i + seed + f; !effort.Sample(n, 12) || n > 0 && !effort.Full() {
					continue
				}
				t.Run(fmt.Sprintf("%s %d bits %v %v", s.Family, bits, dtype, form), func(t *testing.T) {
					want, m := open(t, engine.Soft, s, WithForm(form), Context(100), Chunk(32))
					teach(t, want, m)
					plan := m.Plan()
					if form == Engine {
						require.Less(t, plan.WeightsMapped, int64(2000), "norms alone are fp16 as stored")
					} else if bits != 5 {
						require.Greater(t, 2*plan.WeightsMapped, plan.WeightsConverted, "integers are not copied")
					}
				})
			}
		}
	}
}

// Sizes that fill neither rows of 64 bytes nor vectors of the processor.
func TestOddSizes(t *testing.T) {
	effort.SkipShort(t)
	for i, s := range []decodertest.Spec{
		{Hidden: 8, Intermediate: 12, Layers: 1, Heads: 2, KVHeads: 1, Vocabulary: 11},
		{Hidden: 30, Intermediate: 50, Layers: 3, Heads: 3, KVHeads: 1, HeadDim: 6, Vocabulary: 33,
			Family: decodertest.Qwen3},
		{Hidden: 66, Intermediate: 35, Heads: 6, KVHeads: 2, HeadDim: 22, Vocabulary: 1001, Family: decodertest.Qwen2},
		{Hidden: 40, Heads: 5, KVHeads: 5, HeadDim: 2, Vocabulary: 64, Family: decodertest.TinyLlama},
	} {
		for f, form := range []Form{Engine, Compact} {
			if !effort.Sample(i+f, 9) {
				continue
			}
			t.Run(fmt.Sprint(i, form), func(t *testing.T) {
				want, m := open(t, engine.Soft, s, WithForm(form), Context(70))
				teach(t, want, m)
			})
		}
	}
}

// Without head_dim, the norms of Qwen 3 tell the size of a head.
func TestHeadsWithoutTheirSize(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Qwen3,
		Config: map[string]any{"head_dim": nil}}, Context(70))
	require.Equal(t, 32, m.Config().HeadDim)
	want.JSON["head_dim"] = 32 // for the reference
	teach(t, want, m)
}

// Columns beyond a text are zeros, whose norm is finite with every epsilon.
func TestSmallEpsilons(t *testing.T) {
	effort.SkipShort(t)
	for i, epsilon := range []float64{1e-10, 1e-12, 1e-30} {
		if !effort.Sample(i, 9) {
			continue
		}
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Llama3, Seed: 6,
				Config: map[string]any{"rms_norm_eps": epsilon}}, WithForm(Engine), Context(70))
			teach(t, want, m)
		})
	}
}

// A group without spread has a scale that is zero in fp16 and a bias that is not: no offset stands for that.
func TestGroupsWithoutAScale(t *testing.T) {
	constant := func(name string, values []float64) {
		if name == "model.layers.0.mlp.up_proj.weight" {
			for i := range values[:32] {
				values[i] = 0.25
			}
		}
	}
	want, m := open(t, engine.Soft, decodertest.Spec{Bits: 4, DType: safetensors.F16, Weights: constant},
		WithForm(Compact), Context(100))
	teach(t, want, m)
}

// The largest squares of a state are beyond fp16, its epsilon below it.
func TestLargeAndSmallStates(t *testing.T) {
	for i, scale := range []float64{1500, 1.0 / 4096} {
		for f, form := range []Form{Engine, Compact} {
			if !effort.Sample(2*i+f, 6) {
				continue
			}
			t.Run(fmt.Sprint(scale, form), func(t *testing.T) {
				want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Qwen3, DType: safetensors.F32,
					Weights: func(name string, values []float64) {
						if name == "model.embed_tokens.weight" {
							for i := range values {
								values[i] *= scale
							}
						}
					}}, WithForm(form), Context(100))
				teach(t, want, m)
			})
		}
	}
}

func TestScalingsOfRotations(t *testing.T) {
	effort.SkipShort(t)
	for i, rope := range []map[string]any{
		{"rope_scaling": map[string]any{"type": "linear", "factor": 4.0}},
		{"rope_scaling": map[string]any{"rope_type": "dynamic", "factor": 3.0}, "max_position_embeddings": 40},
		{"rope_scaling": map[string]any{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}},
		{"rope_scaling": map[string]any{"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64,
			"attention_factor": 0.7, "beta_fast": 8.0, "beta_slow": 2.0}},
		{"rope_scaling": map[string]any{"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0,
			"high_freq_factor": 2.0, "original_max_position_embeddings": 16}},
		{"rope_scaling": nil, "rope_theta": nil, "rope_parameters": map[string]any{"rope_type": "llama3", "factor": 8.0,
			"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
			"rope_theta": 20000.0}},
		{"rope_scaling": nil, "rope_theta": nil, "rope_parameters": map[string]any{"rope_type": "default",
			"rope_theta": 300.0}},
	} {
		if !effort.Sample(i, 12) {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Qwen3, Seed: uint64(i), Config: rope,
				HeadDim: 32 + 32*(i%2)}, Context(100))
			teach(t, want, m)
		})
	}
}

// Biases of every projection, as attention_bias and mlp_bias of Llama ask for.
func TestBiasesOfConfigAreRequired(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Config: map[string]any{"attention_bias": true}})
	require.NoError(t, err)
	_, err = Open(dir)
	require.ErrorIs(t, err, ErrWeights)
	require.ErrorContains(t, err, "self_attn.q_proj.bias")
}

// The software engine in another process computes the same bits.
func TestBrokerComputesTheSame(t *testing.T) {
	brokertest.Need(t)
	for _, form := range []Form{Engine, Compact} {
		t.Run(form.String(), func(t *testing.T) {
			dir := t.TempDir()
			want, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Bits: 4, Seed: 3})
			require.NoError(t, err)
			soft := begin(t, load(t, engine.Soft, dir, WithForm(form), Context(100), Chunk(32)))
			model := load(t, engine.Broker, dir, WithForm(form), Context(100), Chunk(32))
			broker := begin(t, model)
			tokens := text(50, want.Vocabulary, 1)
			for _, s := range []*Session{soft, broker} {
				require.NoError(t, s.Prefill(t.Context(), tokens[:40]))
				for _, token := range tokens[40:] {
					require.NoError(t, s.Step(t.Context(), token))
				}
			}
			require.Equal(t, soft.Logits(), broker.Logits())
			require.Equal(t, "broker", model.Receipt().Engine)
			a, err := soft.model.Fingerprint(t.Context())
			require.NoError(t, err)
			b, err := model.Fingerprint(t.Context())
			require.NoError(t, err)
			a.Engine, b.Engine = "", ""
			require.Equal(t, a, b)
		})
	}
}

// programBytes is another limit of the weights of a program than the chips', so that small models have many programs.
func programBytes(n int64) Option { return func(o *options) { o.weights = n } }

// A model with too many programs for the slots of a chip has one set of them for chunks and steps.
func TestOneSetOfPrograms(t *testing.T) {
	s := decodertest.Spec{Layers: 28, Seed: 4, DType: safetensors.F16}
	want, m := open(t, engine.Soft, s, Context(40), programBytes(100<<10))
	plan := m.Plan()
	require.Equal(t, 29, plan.Loads, "%+v", plan)
	require.Equal(t, 2, plan.Compiles)
	require.Equal(t, 32, plan.Chunk)
	tokens := text(4, want.Vocabulary, 9)
	logits := exact(want, tokens)
	limit := bound(want, tokens, logits)
	session := begin(t, m)
	require.NoError(t, session.Prefill(t.Context(), tokens))
	d, _ := most(session.Logits(), logits[3])
	require.LessOrEqual(t, d, limit)
	require.NoError(t, session.Truncate(0))
	for i, token := range tokens {
		require.NoError(t, session.Step(t.Context(), token))
		d, _ := most(session.Logits(), logits[i])
		require.LessOrEqual(t, d, limit)
	}
}

// Sessions of one model run at the same time, and each has the logits that it has alone.
func TestSessionsAtTheSameTime(t *testing.T) {
	for _, form := range []Form{Engine, Compact} {
		if form != Engine && !effort.Full() {
			continue
		}
		want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Qwen3, Bits: 4}, WithForm(form),
			Context(60), Chunk(32))
		run := func(seed uint64) ([]float32, error) {
			s, err := m.NewSession()
			if err != nil {
				return nil, err
			}
			tokens := text(50, want.Vocabulary, seed)
			err = s.Prefill(t.Context(), tokens[:40])
			for _, token := range tokens[40:] {
				err = errors.Join(err, s.Step(t.Context(), token))
			}
			logits := append([]float32(nil), s.Logits()...)
			return logits, errors.Join(err, s.Close())
		}
		var alone, together [4][]float32
		var errs [4]error
		var err error
		for i := range alone {
			alone[i], err = run(uint64(i))
			require.NoError(t, err)
		}
		var wait sync.WaitGroup
		for i := range together {
			wait.Go(func() { together[i], errs[i] = run(uint64(i)) })
		}
		wait.Wait()
		require.NoError(t, errors.Join(errs[:]...))
		require.Equal(t, alone, together)
	}
}

// Columns without a token hold what they held, however many passes there are: they do not go through the layers again.
func TestEmptyColumnsStay(t *testing.T) {
	_, m := open(t, engine.Soft, decodertest.Spec{Layers: 2}, Context(60), Chunk(64), programBytes(100<<10))
	require.Equal(t, 5, m.Plan().Loads)
	s := begin(t, m)
	for range 20 {
		require.NoError(t, s.Step(t.Context(), 3))
	}
	require.NoError(t, s.Prefill(t.Context(), make([]int, 30)))
	for i, p := range s.passes {
		x, err := p.x.Float32s()
		require.NoError(t, err)
		for at, v := range x {
			if at%p.columns >= []int{1, 30}[i] {
				require.Zero(t, v)
			}
		}
	}
}

// Layers in several programs: those of one shape are compiled once.
func TestGroupsOfLayers(t *testing.T) {
	s := decodertest.Spec{Family: decodertest.Llama3, Layers: 9, Vocabulary: 3000, Seed: 4}
	want, m := open(t, engine.Soft, s, Context(64), Chunk(64), programBytes(300<<10))
	plan := m.Plan()
	require.Len(t, plan.Programs, 5, "%+v", plan)
	require.Equal(t, 5, plan.Compiles)
	layers := 0
	for _, p := range plan.Programs {
		require.LessOrEqual(t, p.WeightBytes, int64(300<<10))
		if layers += p.Layers * p.Instances; p.Layers == 0 {
			require.GreaterOrEqual(t, p.Instances*int(p.WeightBytes), 2*64*3000)
		}
	}
	require.Equal(t, 2*9, layers, "for chunks and for steps")
	tokens := text(5, want.Vocabulary, 9)
	logits := exact(want, tokens)
	limit := bound(want, tokens, logits)
	session := begin(t, m)
	for i, token := range tokens {
		require.NoError(t, session.Step(t.Context(), token))
		d, _ := most(session.Logits(), logits[i])
		require.LessOrEqual(t, d, limit)
	}
	require.NoError(t, session.Truncate(0))
	require.NoError(t, session.Prefill(t.Context(), tokens))
	d, _ := most(session.Logits(), logits[len(tokens)-1])
	require.LessOrEqual(t, d, limit)
}

// Attention whose scores would take much memory computes a few heads at a time.
func TestScoresInParts(t *testing.T) {
	effort.NeedsFull(t, "seconds of the reference")
	want, m := open(t, engine.Soft, decodertest.Spec{Heads: 16, KVHeads: 4, HeadDim: 8, Positions: 2048, Layers: 1},
		WithForm(Compact), Chunk(1024))
	require.Greater(t, 2*16*1024*m.Context(), 2*scoreBytes)
	tokens := text(520, want.Vocabulary, 1)
	s := begin(t, m)
	require.NoError(t, s.Prefill(t.Context(), tokens))
	require.NoError(t, s.Step(t.Context(), 1))
	tokens = append(tokens, 1)
	logits := exact(want, tokens)
	d, _ := most(s.Logits(), logits[len(tokens)-1])
	require.LessOrEqual(t, d, bound(want, tokens, logits))
}

// Lint finds no error in any program of the form Engine, for any chip.
func TestLintFindsNoError(t *testing.T) {
	for _, family := range decodertest.Families() {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, decodertest.Spec{Family: family, Hidden: 128, HeadDim: 32})
		require.NoError(t, err)
		f, err := Open(dir)
		require.NoError(t, err)
		for _, form := range []Form{Engine, EngineInt8} {
			programs := map[string]*build.Program{}
			for _, columns := range []int{32, 64} {
				for _, p := range []piece{{stage: whole, layers: 2}, {stage: attends, layers: 1, part: 1},
					{stage: forwards, layers: 1, part: 1}} {
					parts := grouping{caches: 1, queries: 1, inner: 64}
					if p.stage == attends {
						parts.caches = 2
					}
					programs[fmt.Sprint(p.stage, columns)], _, err = f.layers(form, columns, 512, 512, parts, p, nil)
					require.NoError(t, err)
				}
				programs[fmt.Sprint("head", columns)], _, err = f.head(form, columns, extent{0, 96}, nil)
				require.NoError(t, err)
			}
			every := lint.Options{Chips: chip.All(), Compilers: chip.Compilers()}
			for name, p := range programs {
				for _, finding := range lint.Run(name, p.Program, every) {
					require.NotEqual(t, lint.Error, finding.Severity, finding.String())
					require.NotContains(t, []string{"unsorted-inputs", "unsorted-outputs", "padded-width",
						"weight-budget"}, finding.Rule.ID, finding.String())
				}
			}
		}
		require.NoError(t, f.Close())
	}
}

// An engine that refuses what a chip refuses runs the form Engine.
func TestChipsTakeTheProgram(t *testing.T) {
	for i, c := range chip.All() {
		if !effort.Sample(i, 12) {
			continue
		}
		dir := t.TempDir()
		want, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Layers: 1, HeadDim: 32})
		require.NoError(t, err)
		d, err := engine.Open(t.Context(), engine.Soft, engine.Emulate(c))
		require.NoError(t, err)
		f, err := Open(dir)
		require.NoError(t, err)
		m, err := Load(t.Context(), d, f, Chip(c), Context(100))
		require.NoError(t, err, c)
		s, err := m.NewSession()
		require.NoError(t, err)
		tokens := text(8, want.Vocabulary, 1)
		require.NoError(t, s.Prefill(t.Context(), tokens), c)
		logits := exact(want, tokens)
		diff, _ := most(s.Logits(), logits[7])
		require.LessOrEqual(t, diff, bound(want, tokens, logits), c)
		require.NoError(t, s.Close())
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, f.Close())
		require.NoError(t, d.Close())
	}
}

// What is wrong beside rounding differs from the reference by more than the bound.
func TestFaultsAreBeyondTheBound(t *testing.T) {
	spec := decodertest.Spec{Family: decodertest.Qwen3, Seed: 8}
	want, err := decodertest.Write(t.TempDir(), spec)
	require.NoError(t, err)
	tokens := text(tokensOfATest(), want.Vocabulary, 8)
	logits := exact(want, tokens)
	limit := bound(want, tokens, logits)
	for name, fault := range map[string]func(m *decodertest.Model){
		"another base of the rotations": func(m *decodertest.Model) { m.JSON["rope_theta"] = 500000.0 },
		"another epsilon":               func(m *decodertest.Model) { m.JSON["rms_norm_eps"] = 1e-2 },
		"no norm of the queries": func(m *decodertest.Model) {
			for i := range m.Values["model.layers.1.self_attn.q_norm.weight"] {
				m.Values["model.layers.1.self_attn.q_norm.weight"][i] = 1
			}
		},
		"a row of another weight": func(m *decodertest.Model) {
			w := m.Values["model.layers.0.mlp.up_proj.weight"]
			copy(w[:64], w[64:128])
		},
	} {
		other, err := decodertest.Write(t.TempDir(), spec)
		require.NoError(t, err)
		fault(other)
		worst := 0.0
		for i, row := range exact(other, tokens) {
			for j, v := range row {
				worst = math.Max(worst, math.Abs(v-logits[i][j]))
			}
		}
		require.Greater(t, worst, limit, name)
	}
}

// Random texts, cut into passes at random, of which some see a part of the room: the logits are those of long passes.
func TestCutsOfATextDoNotMatter(t *testing.T) {
	for _, form := range []Form{Engine, Compact} {
		want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Qwen2, Seed: 6},
			WithForm(form), Context(300), Chunk(64))
		tokens := text(200, want.Vocabulary, 6)
		s := begin(t, m)
		require.NoError(t, s.Prefill(t.Context(), tokens))
		logits := append([]float32(nil), s.Logits()...)
		r := rand.New(rand.NewPCG(1, 2))
		for range effort.Cases(4) {
			require.NoError(t, s.Truncate(r.IntN(100)))
			for s.Position() < len(tokens) {
				n := 1 + r.IntN(min(90, len(tokens)-s.Position()))
				require.NoError(t, s.Prefill(t.Context(), tokens[s.Position():s.Position()+n]))
			}
			for i, v := range s.Logits() {
				require.InDelta(t, logits[i], v, 0.3)
			}
		}
	}
}
