package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/models/decoder"
)

// benchGenerateOptions are the flags of bench generate.
type benchGenerateOptions struct {
	size, dir, form, restore string
	prompt, steps, rounds    int
}

func benchGenerateCommand(a *cli.App) *cobra.Command {
	var o benchGenerateOptions
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd); err != nil {
				return err
			}
			if a.Engine == engine.Auto && a.Socket == "" && !a.RequireApple {
				a.Engine = engine.Soft // its process has the memory
			}
			return benchGenerate(a, cmd.Context(), o)
		},
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
func Sizes() (all []string) {
	for _, s := range decoderbench.Shapes() {
		all = append(all, s.Name)
	}
	return all
}

// benchGenerateDetails are the fields that bench generate adds to the report.
type benchGenerateDetails struct {
	Size string `json:"size"`
	Form string `json:"form"`
	decoderbench.Result
	Published decoderbench.Seed `json:"published"`
}

// plan checks the flags.
func (o benchGenerateOptions) plan() (s decoderbench.Shape, p decoderbench.Plan, err error) {
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

func benchGenerate(a *cli.App, ctx context.Context, o benchGenerateOptions) (err error) {
	s, p, err := o.plan()
	if err != nil {
		return err
	}
	d, err := a.OpenEngineOrHint(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if p.Dir, err = os.MkdirTemp(o.dir, "ane-model"); err != nil {
		return cli.Bad(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.Dir)) }()
	bar := a.Progress(0)
	defer bar.Stop()
	bar.Now("make the model")
	if err := decoderbench.Make(p.Dir, s); err != nil {
		return err
	}
	found := &benchGenerateDetails{Size: s.Name, Form: p.Form.String(), Published: decoderbench.Published()}
	if found.Result, err = decoderbench.Measure(ctx, d, s, p, bar.Now); err != nil {
		return err
	}
	bar.Stop()
	r := cli.NewReport(d)
	r.Details = found
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	return found.print(a)
}

// print writes the tables.
func (b *benchGenerateDetails) print(a *cli.App) error {
	seed := b.Published
	ms := func(d time.Duration) string { return fmt.Sprintf("%.3g ms", float64(d)/1e6) }
	size := func(n int64) string { return measure.BytesText(int(n)) }
	rate := func(n int, d time.Duration) string { return fmt.Sprintf("%.3g tokens/s", float64(n)/d.Seconds()) }
	speed := page.NewTable("figure", "here", "M1's GPU", "beside")
	speed.Row("load", ms(b.Load), ms(seed.Load), "")
	speed.Row("prompt of 5 tokens", ms(b.Short), ms(seed.Short), "")
	speed.Row("first token after them", ms(b.First), "", "")
	speed.Row(fmt.Sprintf("prompt of %d tokens", b.Prompt), ms(b.Prefill), "", fmt.Sprintf(
		"%s, %.3g G products/s; the bare multiply-add loop takes %s, %.2fx", rate(b.Prompt, b.Prefill), b.Products/1e9,
		ms(b.PromptFloor), b.Prefill.Seconds()/b.PromptFloor.Seconds()))
	speed.Row("token", ms(b.Step), ms(seed.Step), fmt.Sprintf("%s; reading the weights once takes %s, %.2fx",
		rate(1, b.Step), ms(b.ReadFloor), b.Step.Seconds()/b.ReadFloor.Seconds()))
	memory := page.NewTable("weights", "bytes", "")
	w := b.Weights
	memory.Row("stored", size(w.Stored), "")
	memory.Row("mapped", size(w.Mapped), "the engine reads them in the file's pages")
	memory.Row("converted", size(w.Converted), "in memory of their own")
	memory.Row("own memory", size(w.Own),
		fmt.Sprintf("%.2fx of weights and keys and values; %s if the weights were read",
			float64(w.Own+w.Mapped)/float64(w.Stored+w.KV), size(w.Read)))
	memory.Row("peak", size(b.Peak), fmt.Sprintf("resident after a prompt, mapped files included: %.2fx",
		float64(b.Peak)/float64(w.Stored+w.KV)))
	keys := page.NewTable("keys, values", "tokens", "resident", "copied")
	for _, k := range b.Keys {
		keys.Row(k.Mode, fmt.Sprint(k.Tokens), size(k.Bytes), size(k.Copied))
	}
	restore := page.NewTable("tokens", "snapshot", "save", "restore", "prefill", "ratio", "same bits")
	restore.Row("24, M1's GPU", size(seed.Restored.Bytes), ms(seed.Restored.Save), ms(seed.Restored.Restore),
		ms(seed.Restored.Prefill), fmt.Sprintf("%.3g", seed.Restored.Ratio()), "10 of 10 tokens")
	for _, r := range b.Restores {
		same := "no"
		if r.Same {
			same = "yes"
		}
		restore.Row(fmt.Sprint(r.Tokens), size(r.Bytes), ms(r.Save), ms(r.Restore), ms(r.Prefill),
			fmt.Sprintf("%.3g", r.Ratio()), same)
	}
	if err := a.Tables(speed, memory, keys, restore); err != nil {
		return err
	}
	most := slices.MaxFunc(b.Restores, func(x, y decoderbench.Restored) int { return x.Tokens - y.Tokens })
	return a.Printf("\nThe publication extrapolates a ratio of 100 at 4096 tokens; here it is %.3g at %d.\n",
		most.Ratio(),
		most.Tokens)
}
