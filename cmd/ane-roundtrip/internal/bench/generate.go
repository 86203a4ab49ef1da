package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/models/decoder"
)

// generateOptions are the flags of bench generate.
type generateOptions struct {
	size, dir, form, restore string
	prompt, steps, rounds    int
}

func generateCommand(a *cli.App) *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Measure a language model of random weights",
		Long: `generate makes a model of random weights in groups of 4 bits, in the shapes of
Llama 3.2 1B (695 MB; --size tiny is for tests), measures it, and removes it:
the time to load and to the first token, the rates of a prompt and of steps
beside reading the weights once, memory (weights mapped beside read, keys and
values reserved beside a cache that grows), and restoring a snapshot beside
repeating the prefill. It prints these beside the figures of "Zero-Copy GPU
Inference from WebAssembly on Apple Silicon", from the GPU of an M1 with MLX.

A conversation of 4096 tokens takes minutes on a processor; --restore 24,256
omits it.

--report FILE writes the JSON object to FILE.json, or a page of it with plots to
FILE.html; also on failure.`,
		Example: `  ane-roundtrip bench generate --restore 24,256
  ane-roundtrip bench generate --size tiny --json`,
		Args: cli.NoArgs,
		RunE: reporting(a, func(t *trial.T) { o.run(t, a) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.size, "size", "llama-3.2-1b", "`SHAPE` of the model: "+strings.Join(Sizes(), ", "))
	f.StringVar(&o.dir, "dir", "", "`FOLDER` for the files (default: that of temporary files)")
	f.StringVar(&o.form, "form", decoder.Compact.String(), "`FORM` of the programs: engine, engine-int8 or compact")
	f.StringVar(&o.restore, "restore", "24,256,1024,4096", "`TOKENS` of the conversations that are restored")
	f.IntVar(&o.prompt, "prompt", 256, "`N` tokens of the prompt")
	f.IntVar(&o.steps, "steps", 16, "`N` tokens to generate")
	f.IntVar(&o.rounds, cli.RepeatFlag, 3, "`N` rounds, of which the best counts")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// Sizes lists the shapes by name.
func Sizes() []string {
	return cli.Each(decoderbench.Shapes(), func(s decoderbench.Shape) string { return s.Name })
}

// generateDetails are the fields that bench generate adds to the report.
type generateDetails struct {
	Size string `json:"size"`
	Form string `json:"form"`
	decoderbench.Result
	Published decoderbench.Seed `json:"published"`
}

// plan checks the flags.
func (o generateOptions) plan() (s decoderbench.Shape, p decoderbench.Plan, err error) {
	s, ok := decoderbench.Find(o.size)
	if !ok {
		return s, p, cli.NoSuch("size", o.size, Sizes())
	}
	if p.Form, err = decoder.ParseForm(o.form); err != nil {
		return s, p, cli.NoSuch("form", o.form, cli.Names(decoder.Forms()))
	}
	for _, word := range strings.Split(o.restore, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n >= s.Positions {
			return s, p, cli.Badf("--restore %q: %q is no number of tokens; give numbers such as 24,256", o.restore, word)
		}
		p.Restore = append(p.Restore, n)
	}
	for _, given := range []struct {
		flag string
		n    int
	}{{"prompt", o.prompt}, {"steps", o.steps}, {"rounds", o.rounds}} {
		if given.n < 1 || given.n > s.Positions/2 {
			return s, p, cli.Badf("--%s %d; give a number from 1 to %d", given.flag, given.n, s.Positions/2)
		}
	}
	p.Prompt, p.Steps, p.Rounds = o.prompt, o.steps, o.rounds
	return s, p, nil
}

// run makes a model, measures it and removes it.
func (o generateOptions) run(t *trial.T, a *cli.App) {
	s, p, err := o.plan()
	trial.NoError(err)
	if a.Engine == engine.Auto && a.Socket == "" && !a.RequireApple {
		a.Engine = engine.Soft // its process has the memory
	}
	d := trial.Must(a.OpenEngineOrHint(t.Ctx))
	t.Closing(d.Close)
	p.Dir, err = os.MkdirTemp(o.dir, "ane-model")
	trial.NoError(cli.Bad(err))
	t.Closing(func() error { return os.RemoveAll(p.Dir) })
	bar := a.Progress(0)
	defer bar.Stop()
	bar.Now("make the model")
	trial.NoError(decoderbench.Make(p.Dir, s))
	r := cli.NewReport(d)
	r.Details, r.View = &generateDetails{Size: s.Name, Form: p.Form.String(), Published: decoderbench.Published(),
		Result: trial.Must(decoderbench.Measure(t.Ctx, d, s, p, bar.Now))}, GenerateView
	a.Deliver(r)
}

// GenerateView lays out the figures of a language model beside the published ones.
func GenerateView(d *doc.Doc, v *doc.Value) {
	if !v.Here() {
		return
	}
	p := v.At("published")
	d.Summary = doc.Line("size ", v.Text("size"), ", form ", v.Text("form"))
	d.Key("token", v.Time("step_ns"))
	d.Key("weights read once", v.Time("step_floor_ns"))
	d.Key("load", v.Time("load_ns"))
	d.Key("resident at most", v.Size("peak_bytes"))

	float := func(keys ...string) float64 { return v.At(keys...).Float() }
	rate := func(tokens float64, key string) string {
		return fmt.Sprintf("%.3g tokens/s", tokens/time.Duration(float(key)).Seconds())
	}
	floor := func(what, key, floor string) string {
		return fmt.Sprintf("%s takes %s, %.2fx", what, milliseconds(v.At(floor)), float(key)/float(floor))
	}
	tokens := float("prompt_tokens")
	times := doc.NewTable("Times", "figure", "#here", "#published|M1's GPU", ">beside")
	for _, s := range []struct{ key, name, text, beside string }{{"load_ns", "load", "load", ""},
		{"prefill_5_ns", "short prompt", "prompt of 5 tokens", ""},
		{"first_token_ns", "first token", "first token after them", ""},
		{"prompt_ns", "long prompt", fmt.Sprintf("prompt of %g tokens", tokens), fmt.Sprintf("%s, %.3g G products/s; %s",
			rate(tokens, "prompt_ns"), float("prompt_products_per_s")/1e9,
			floor("the bare multiply-add loop", "prompt_ns", "prompt_floor_ns"))},
		{"step_ns", "token", "token", rate(1, "step_ns") + "; " + floor("reading the weights once", "step_ns", "step_floor_ns")}} {
		here, published := v.At(s.key), p.At(s.key)
		times.Row(doc.Words("%s", s.name).Brief("%s", s.text), here.Time().Brief("%s", milliseconds(here)),
			published.Time().Brief("%s", milliseconds(published)), doc.Nothing().Brief("%s", s.beside))
	}
	d.Section("Language model", doc.Line("The long prompt has ", v.Plain("prompt_tokens"), " tokens, at ",
		v.Plain("prompt_products_per_s"), " products a second; the bare multiply-add loop takes ",
		v.Time("prompt_floor_ns"), ". Published: the GPU of an M1, with MLX."), times)

	w := v.At("weights")
	stored := float("weights", "stored_bytes") + float("weights", "kv_bytes")
	memory := doc.NewTable("Memory of the weights", "weights", "#bytes", ">")
	for _, m := range []struct {
		size       doc.Cell
		name, what string
	}{{w.Size("stored_bytes"), "stored", ""},
		{w.Size("mapped_bytes"), "mapped", "the engine reads them in the file's pages"},
		{w.Size("converted_bytes"), "converted", "in memory of their own"},
		{w.Size("own_bytes"), "own memory", fmt.Sprintf("%.2fx of weights and keys and values",
			(float("weights", "own_bytes")+float("weights", "mapped_bytes"))/stored)},
		{w.Size("read_bytes"), "own memory if read", ""}, {w.Size("kv_bytes"), "keys and values of it", ""},
		{v.Size("peak_bytes"), "peak", fmt.Sprintf("resident after a prompt, mapped files included: %.2fx",
			float("peak_bytes")/stored)}} {
		memory.Row(doc.Words("%s", m.name), m.size, doc.Nothing().Brief("%s", m.what))
	}
	keys := doc.NewTable("Keys and values", "cache|keys, values", "#tokens", "#resident", "#moved on growth|copied")
	for _, k := range v.Items("kv") {
		keys.Row(k.Text("mode"), k.Plain("tokens"), k.Size("bytes"), k.Size("copied_bytes"))
	}
	d.Section("Memory of the model", nil, memory, keys)

	restored := v.Items("restore")
	ratio := func(r *doc.Value) float64 { return r.At("prefill_ns").Float() / r.At("restore_ns").Float() }
	t := doc.NewTable("Conversations", "tokens", "#snapshot", "#save", "#restore", "#prompt|prefill", "#ratio", "same bits")
	row := func(r *doc.Value, tokens, same doc.Cell) {
		t.Row(tokens, r.Size("bytes"), r.Time("save_ns"), r.Time("restore_ns"), r.Time("prefill_ns"),
			doc.Nothing().Brief("%.3g", ratio(r)), same)
	}
	row(p.At("restore"), p.Plain("restore", "tokens").In("on M1's GPU").Brief("24, M1's GPU"),
		p.Text("restore", "same").Brief("10 of 10 tokens"))
	longest := p.At("restore")
	for i, r := range restored {
		same := r.Text("same").Brief("no")
		if r.At("same").Yes() {
			same = same.Brief("yes")
		}
		row(r, r.Plain("tokens"), same)
		if i == 0 || r.At("tokens").Float() > longest.At("tokens").Float() {
			longest = r
		}
	}
	c := &doc.Chart{X: doc.Axis{Label: "tokens"}, Y: doc.Axis{Form: doc.DurationOf(1), Log: true}}
	plot := doc.Plot{Title: doc.Words("Restore and prompt"), Caption: doc.Line("less is better")}
	for i, s := range [][2]string{{"prefill_ns", "the prompt again"}, {"save_ns", "save"}, {"restore_ns", "restore"}} {
		c.Add(through(restored, "tokens", s[0], doc.Curve{Color: doc.Series(i), Dots: true}))
		plot.Legend = append(plot.Legend, doc.SeriesMark("", i, doc.Words("%s", s[1])))
	}
	d.Section("Restored conversations", nil, d.Figures().Add(c, plot, "Times over the tokens of a conversation."), t)
	d.Terminal(doc.Text(doc.Words("The publication extrapolates a ratio of 100 at 4096 tokens; here it is %.3g at %g.",
		ratio(longest), longest.At("tokens").Float())))
}

// milliseconds is a time as the publication has it.
func milliseconds(v *doc.Value) string {
	if !v.Here() {
		return ""
	}
	return fmt.Sprintf("%.3g ms", v.Float()/1e6)
}
