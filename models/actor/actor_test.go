package actor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models/decoder"
)

// stage is a model on an engine with a Host.
type stage struct {
	device *ane.Device
	folder *decoder.Folder
	model  *decoder.Model
	host   *Host
}

func openStage(dir, name string, opts ...engine.Option) (s *stage, err error) {
	ctx := context.Background()
	s = &stage{}
	if s.device, err = engine.Open(ctx, name, opts...); err != nil {
		return nil, err
	}
	if s.folder, err = decoder.Open(dir); err != nil {
		return nil, err
	}
	s.model, err = decoder.Load(ctx, s.device, s.folder, decoder.WithForm(decoder.Compact), decoder.Context(256))
	if err != nil {
		return nil, err
	}
	s.host, err = NewHost(ctx, s.device, s.model)
	return s, err
}

func (s *stage) close() error {
	ctx := context.Background()
	return errors.Join(s.host.Close(ctx), s.model.Close(ctx), s.folder.Close(), s.device.Close())
}

func newStage(t testing.TB, dir, name string, opts ...engine.Option) *stage {
	t.Helper()
	s, err := openStage(dir, name, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	return s
}

func (s *stage) load(t testing.TB, text []byte) *Code {
	t.Helper()
	c, err := s.host.Load(context.Background(), text)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	return c
}

// modelDir writes a random model.
func modelDir(t testing.TB, spec decodertest.Spec) string {
	t.Helper()
	dir := t.TempDir()
	if spec.Family == "" {
		spec.Family = decodertest.Llama3
	}
	spec.Config = map[string]any{"eos_token_id": nil} // so that the talk does not end
	_, err := decodertest.Write(dir, spec)
	require.NoError(t, err)
	return dir
}

func counter(t testing.TB) []byte { return binaryOf(t, "testdata/counter.wasm") }

// clock is a guest whose tokens are those of WASI's random numbers and clocks.
func clock(t testing.TB) []byte { return binaryOf(t, "testdata/clock.wasm") }

func binaryOf(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

var prompt = []int{1, 5, 7, 11}

// drawn is a sampler that draws.
func drawn(t testing.TB) *decoder.Sampler {
	t.Helper()
	s, err := decoder.NewSampler(2, 0.95, 7)
	require.NoError(t, err)
	return s
}

func start(t testing.TB, c *Code, config Config) *Actor {
	t.Helper()
	a, err := c.Start(context.Background(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	return a
}

func thaw(t testing.TB, c *Code, path string) *Actor {
	t.Helper()
	a, err := c.Thaw(context.Background(), path, Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	return a
}

// say has an actor say n tokens.
func say(t testing.TB, a *Actor, n int) (tokens []int) {
	t.Helper()
	for range n {
		token, err := a.Next(context.Background())
		require.NoError(t, err)
		tokens = append(tokens, token)
	}
	return tokens
}

// An actor says what a session of the model answers.
func TestActorsSayWhatTheModelAnswers(t *testing.T) {
	s := newStage(t, modelDir(t, decodertest.Spec{Seed: 3}), engine.Soft)
	c := s.load(t, Talker())
	for _, sampled := range []bool{false, true} {
		config, talk := Config{Prompt: prompt}, decoder.Snapshot{Prompt: prompt}
		if sampled {
			config.Sampler, talk.Sampler = drawn(t), drawn(t)
		}
		session, err := s.model.NewSession()
		require.NoError(t, err)
		_, err = session.Answer(context.Background(), &talk, 20, nil)
		require.NoError(t, err)
		require.NoError(t, session.Close())
		a := start(t, c, config)
		require.Equal(t, talk.Answer, say(t, a, 20))
		require.Equal(t, talk.Answer, a.Said())
		require.Equal(t, prompt, a.Prompt())
		results, err := a.Guest().Call(context.Background(), "said")
		require.NoError(t, err)
		require.EqualValues(t, 20, results[0])
	}
}

// Frozen between any two tokens, an actor goes on as one that was never frozen, on every engine.
func TestThawedActorsGoOn(t *testing.T) {
	dir := modelDir(t, decodertest.Spec{Seed: 5, Bits: 4})
	engines := []string{engine.Soft}
	if brokertest.Here() {
		engines = append(engines, engine.Broker)
	}
	for name, text := range map[string][]byte{"talker": Talker(), "counter": counter(t), "clock": clock(t)} {
		t.Run(name, func(t *testing.T) {
			var stages []*Code
			for _, e := range engines {
				stages = append(stages, newStage(t, dir, e).load(t, text))
			}
			whole := say(t, start(t, stages[0], Config{Prompt: prompt, Sampler: drawn(t)}), effort.Rounds(12, 3))
			path := filepath.Join(t.TempDir(), "a")
			a := start(t, stages[0], Config{Prompt: prompt, Sampler: drawn(t)})
			var said []int
			for i := range whole {
				require.NoError(t, a.Freeze(context.Background(), path))
				a = thaw(t, stages[i%len(stages)], path)
				require.Zero(t, a.Moved())
				require.Equal(t, prompt, a.Prompt())
				require.Equal(t, whole[:i], append([]int{}, a.Said()...))
				said = append(said, say(t, a, 1)...)
			}
			require.Equal(t, whole, said)
		})
	}
}

// A guest that was frozen before it read the logits of its prompt reads the same bits, however long the prompt is.
func TestThawedActorsHaveTheLogitsOfTheirPrompt(t *testing.T) {
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 5}), engine.Soft).load(t, binaryOf(t, "testdata/bits.wasm"))
	path := filepath.Join(t.TempDir(), "a")
	for _, n := range []int{1, 2, 20, 32, 33, 64, 90} {
		long := make([]int, n)
		for i := range long {
			long[i] = (37*i + 5) % 96
		}
		whole := say(t, start(t, c, Config{Prompt: long}), 4)
		a := start(t, c, Config{Prompt: long})
		for i := range whole {
			require.NoError(t, a.Freeze(context.Background(), path))
			a = thaw(t, c, path)
			require.Equal(t, whole[i:i+1], say(t, a, 1), "prompt of %d, token %d", n, i)
		}
	}
}

// Memory that does not compress, and the text of the last error, are frozen.
func TestLargeMemoryIsFrozen(t *testing.T) {
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 5}), engine.Soft).load(t, binaryOf(t, "testdata/large.wasm"))
	whole := say(t, start(t, c, Config{Prompt: prompt}), 6)
	a := start(t, c, Config{Prompt: prompt})
	require.Equal(t, whole[:2], say(t, a, 2))
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, a.Freeze(context.Background(), path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(4<<20))
	require.NotEmpty(t, a.Guest().LastError())
	b := thaw(t, c, path)
	require.Equal(t, a.Guest().LastError(), b.Guest().LastError())
	require.Equal(t, whole[2:], say(t, b, 4))

	_, err = c.Thaw(context.Background(), path, Config{Limits: wasm.Limits{Memory: 1 << 20}})
	require.ErrorIs(t, err, ErrSnapshot)
	require.ErrorContains(t, err, "its memory has 4259840 bytes, the limit is 1048576; raise Limits.Memory, which is "+
		"--guest-memory of actor thaw")
}

// Freezing changes nothing: neither the actor nor, if it fails, the file.
func TestFreezeLeavesTheActor(t *testing.T) {
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 5}), engine.Soft).load(t, counter(t))
	whole := say(t, start(t, c, Config{Prompt: prompt}), 8)
	a := start(t, c, Config{Prompt: prompt})
	path := filepath.Join(t.TempDir(), "a")
	var said []int
	for range 8 {
		require.NoError(t, a.Freeze(context.Background(), path))
		said = append(said, say(t, a, 1)...)
	}
	require.Equal(t, whole, said)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, a.Close(context.Background()))
	require.ErrorIs(t, a.Freeze(context.Background(), path), ErrClosed)
	_, err = a.Next(context.Background())
	require.ErrorIs(t, err, ErrClosed)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// child plays a part in a process of its own: thaw prints the next 6 tokens; freeze says and freezes until it is
// killed.
func child(part, dir, path string) error {
	ctx := context.Background()
	s, err := openStage(dir, engine.Soft)
	if err != nil {
		return err
	}
	c, err := s.host.Load(ctx, Talker())
	if err != nil {
		return err
	}
	a, err := c.Thaw(ctx, path, Config{})
	if err != nil {
		return err
	}
	for i := 0; part == "freeze" || i < 6; i++ {
		token, err := a.Next(ctx)
		if errors.Is(err, ErrEnd) || i == 100 {
			if a, err = c.Thaw(ctx, path, Config{}); err != nil { // begin again, so that this never ends
				return err
			}
			i = 0
			continue
		}
		if err != nil {
			return err
		}
		if part == "freeze" {
			if err := a.Freeze(ctx, path+".loop"); err != nil {
				return err
			}
		}
		fmt.Println(token)
	}
	return nil
}

func TestAFreshProcessGoesOn(t *testing.T) {
	leaktest.SkipEmulated(t)
	dir := modelDir(t, decodertest.Spec{Seed: 8})
	c := newStage(t, dir, engine.Soft).load(t, Talker())
	a := start(t, c, Config{Prompt: prompt, Sampler: drawn(t), Note: "a note"})
	say(t, a, 3)
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, a.Freeze(context.Background(), path))
	info, err := PeekFile(path)
	require.NoError(t, err)
	require.Equal(t, Info{prompt, a.Said(), len(prompt) + 2, "a note"}, info)
	cmd := exec.Command(os.Args[0], dir, path)
	cmd.Env = append(os.Environ(), childPart+"=thaw")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var want []string
	for _, token := range say(t, a, 6) {
		want = append(want, fmt.Sprint(token))
	}
	require.Equal(t, want, strings.Fields(string(out)))
}

// After a kill at any moment the file is an actor that goes on, never half of one.
func TestKilledWhileFreezing(t *testing.T) {
	leaktest.SkipEmulated(t)
	dir := modelDir(t, decodertest.Spec{Seed: 8})
	c := newStage(t, dir, engine.Soft).load(t, Talker())
	whole := say(t, start(t, c, Config{Prompt: prompt}), 120)
	a := start(t, c, Config{Prompt: prompt})
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, a.Freeze(context.Background(), path))
	for round := range effort.Rounds(6, 1) {
		cmd := exec.Command(os.Args[0], dir, path)
		cmd.Env = append(os.Environ(), childPart+"=freeze")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		var b [1]byte
		for seen := 0; seen <= 3+5*round; { // lines
			_, err := out.Read(b[:])
			require.NoError(t, err)
			if b[0] == '\n' {
				seen++
			}
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		thawed := thaw(t, c, path+".loop")
		said := thawed.Said()
		require.NotEmpty(t, said)
		require.Equal(t, whole[:len(said)], said)
		require.Equal(t, whole[len(said):len(said)+3], say(t, thawed, 3))
	}
}

func TestOtherModelsAreMovedTo(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a")
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 1}), engine.Soft).load(t, Talker())
	a := start(t, c, Config{Prompt: prompt})
	said := say(t, a, 9)
	require.NoError(t, a.Freeze(ctx, path))

	other := newStage(t, modelDir(t, decodertest.Spec{Seed: 2, Family: decodertest.Qwen3, Layers: 3}), engine.Soft)
	d := other.load(t, Talker())
	_, err := d.Thaw(ctx, path, Config{})
	require.ErrorIs(t, err, ErrModel)
	b, err := d.Move(ctx, path, Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close(ctx)) }()
	require.Equal(t, said, b.Said())
	require.Equal(t, len(prompt)+len(said)-1, b.Moved())

	talk := decoder.Snapshot{Prompt: append(append([]int{}, prompt...), said...)}
	session, err := other.model.NewSession()
	require.NoError(t, err)
	defer func() { require.NoError(t, session.Close()) }()
	_, err = session.Answer(ctx, &talk, 10, nil)
	require.NoError(t, err)
	require.Equal(t, talk.Answer, say(t, b, 10))

	small := newStage(t, modelDir(t, decodertest.Spec{Seed: 2, Vocabulary: 10}), engine.Soft).load(t, Talker())
	_, err = small.Move(ctx, path, Config{})
	require.ErrorIs(t, err, decoder.ErrVocabulary)

	dir := modelDir(t, decodertest.Spec{Seed: 1})
	m6 := newStage(t, dir, engine.Soft, engine.Numerics(chip.M6)).load(t, Talker())
	_, err = m6.Thaw(ctx, path, Config{})
	require.ErrorIs(t, err, ErrModel, "other numerics compute other keys and values")
}

func TestOtherGuestsAreRefusedWithWhatDiffers(t *testing.T) {
	ctx := context.Background()
	s := newStage(t, modelDir(t, decodertest.Spec{Seed: 1}), engine.Soft)
	c, other := s.load(t, Talker()), s.load(t, counter(t))
	path := filepath.Join(t.TempDir(), "a")
	a := start(t, c, Config{Prompt: prompt})
	say(t, a, 2)
	require.NoError(t, a.Freeze(ctx, path))
	for _, open := range []func(context.Context, string, Config) (*Actor, error){other.Thaw, other.Move} {
		_, err := open(ctx, path, Config{})
		require.ErrorIs(t, err, ErrSnapshot)
		require.ErrorContains(t, err, fmt.Sprintf("its guest has SHA-256 %x, this guest %x", c.sum, other.sum))
	}
	_, err := c.Thaw(ctx, path, Config{Limits: wasm.Limits{Memory: 65536}})
	require.ErrorIs(t, err, wasm.ErrLimit)
	_, err = c.Thaw(ctx, path+"x", Config{})
	require.ErrorIs(t, err, fs.ErrNotExist)

	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, a.session.SaveFile(ctx, plain, decoder.Snapshot{Prompt: a.session.Tokens()}))
	_, err = c.Thaw(ctx, plain, Config{})
	require.ErrorIs(t, err, ErrSnapshot)
	require.ErrorContains(t, err, "it has no guest")

	extra, err := a.state()
	require.NoError(t, err)
	extra[len(stateMagic)-1]++
	_, err = c.read(extra)
	require.ErrorContains(t, err, "it has version 5 of the format, this program reads 4")
	extra[len(stateMagic)-1]--
	later := bytes.Replace(extra, []byte(`"Interface":1`), []byte(`"Interface":2`), 1)
	_, err = c.read(later)
	require.ErrorContains(t, err, "ran with version 2 of the module anekit, this is 1")
	for n := range extra {
		require.ErrorIs(t, a.install("thaw", "x", extra[:n]), ErrSnapshot, "%d of %d bytes", n, len(extra))
	}
	require.NoError(t, a.install("thaw", "x", extra))
}

// Any flipped bit, and a cut file, is refused, also where another model takes the tokens and no keys and values.
func TestDamagedSnapshots(t *testing.T) {
	ctx := context.Background()
	other := newStage(t, modelDir(t, decodertest.Spec{Seed: 2}), engine.Soft).load(t, Talker())
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 1}), engine.Soft).load(t, Talker())
	a := start(t, c, Config{Prompt: prompt})
	say(t, a, 2)
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, a.Freeze(ctx, path))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := 0; at < len(whole); at += 1 + len(whole)/effort.Rounds(97, 24) {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 1 << (at % 8)
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		_, err := c.Thaw(ctx, path, Config{})
		require.ErrorIs(t, err, ErrSnapshot, "byte %d of %d", at, len(whole))
		_, err = other.Move(ctx, path, Config{})
		require.ErrorIs(t, err, ErrSnapshot, "moved, byte %d of %d", at, len(whole))
		require.NoError(t, os.WriteFile(path, whole[:at], 0o600))
		_, err = c.Thaw(ctx, path, Config{})
		require.ErrorIs(t, err, ErrSnapshot, "cut at %d", at)
	}
}

// Ten actors on one model take its weights once.
func TestTenActorsShareTheWeights(t *testing.T) {
	s := newStage(t, modelDir(t, decodertest.Spec{Seed: 1, Hidden: 512, Intermediate: 1536, Layers: 4}), engine.Soft)
	plan := s.model.Plan()
	weights := plan.WeightsMapped + plan.WeightsConverted
	require.Greater(t, weights, int64(20<<20))
	c := s.load(t, Talker())
	say(t, start(t, c, Config{Prompt: prompt}), 2)
	debug.FreeOSMemory()
	before, err := procmem.Proportional()
	if err != nil {
		t.Skip(err)
	}
	for range 9 {
		say(t, start(t, c, Config{Prompt: prompt}), 2)
	}
	debug.FreeOSMemory()
	after, err := procmem.Proportional()
	require.NoError(t, err)
	own := 9 * (plan.CacheBytes + plan.ScratchBytes)
	t.Logf("%d bytes of weights; nine further actors take %d bytes of proportional memory, %d of them are caches and "+
		"the sessions' scratch", weights, after-before, own)
	require.Less(t, (after-before)/9, weights/4, "of one actor")
}
