package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/weightbench"
	"github.com/anekit/anekit/internal/wholefile"
)

// weightsOptions are the flags of bench weights.
type weightsOptions struct {
	dir, plots string
	most       int64 // MiB
	rounds     int
}

func weightsCommand(a *cli.App) *cobra.Command {
	var o weightsOptions
	cmd := &cobra.Command{
		Use:   "weights",
		Short: "Measure ways to load weights, and reserved memory of a cache",
		Long: `weights repeats the three suites of the OptMLX paper on files that it makes and
removes: the time to load by a map, by reads of one and of several goroutines,
and by direct I/O with and without io_uring, warm and after a request to drop
the file from the page cache; the effect on the first and later evaluations, on
the software engine; and the memory of keys and values reserved for 2048 and
4096 tokens beside a cache that grows. It prints the paper's tables too,
measured with MLX on an M4 Max.

Sizes double from 64 MiB up to --max-mib, or to half of the free space or of the
available memory.

--report FILE writes the JSON object to FILE.json, or a page of it with plots to
FILE.html; also on failure.`,
		Example: `  ane-roundtrip bench weights --max-mib 8192 --plots .`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd); err != nil {
				return err
			}
			_, err := trial.Step{Run: func(t *trial.T) { o.run(t, a) }}.Make(cmd.Context())
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "`FOLDER` for the files (default: that of temporary files)")
	f.StringVar(&o.plots, "plots", "", "`FOLDER` for the plots, load.svg and cache.svg (default: none)")
	f.Int64Var(&o.most, "max-mib", 1024, "`MIB` of the largest file, 64 or more")
	f.IntVar(&o.rounds, cli.RepeatFlag, 3, "`N` rounds, of which the best counts")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	return cmd
}

// weightsDetails are the fields that bench weights adds to the report.
type weightsDetails struct {
	Load    []weightbench.Loaded   `json:"load"`
	Infer   []weightbench.Inferred `json:"infer"`
	Reserve []weightbench.Kept     `json:"reserve"`
	Skipped []skippedStep          `json:"skipped_suites,omitempty"`

	Published weightbench.Paper `json:"published"`
}

// run measures ways of loading, evaluations and caches.
func (o weightsOptions) run(t *trial.T, a *cli.App) {
	switch {
	case o.most < 64:
		trial.NoError(cli.Badf("--max-mib %d; give 64 or more", o.most))
	case o.rounds < 1:
		trial.NoError(cli.Badf("--rounds %d; give 1 or more", o.rounds))
	}
	// The files are begun before the measurement: a command that cannot write them fails at once.
	var plots []*wholefile.File
	for _, name := range []string{"load.svg", "cache.svg"} {
		if o.plots != "" {
			f := trial.Must(a.CreateOutput("--plots", filepath.Join(o.plots, name)))
			defer f.Discard()
			plots = append(plots, f)
		}
	}
	dir, err := os.MkdirTemp(o.dir, "ane-weights")
	if err != nil {
		trial.NoError(cli.Badf("--dir: %w; name a folder that exists and can be written", err))
	}
	d := &weightsDetails{Load: []weightbench.Loaded{}, Infer: []weightbench.Inferred{},
		Published: weightbench.Published()}
	t.Scope(func(t *trial.T) {
		t.Closing(func() error { return os.RemoveAll(dir) })
		d.measure(t, a, o, dir)
	})
	object := trial.Must(json.Marshal(map[string]any{"details": d}))
	for i, f := range plots {
		text := trial.Must(doc.Drawing(object, WeightsView, []string{"Time to load", "Keys and values"}[i]))
		_, err := f.Write([]byte(text))
		trial.NoError(cli.WriteError("--plots", err))
	}
	trial.NoError(cli.WriteError("--plots", wholefile.CommitAll(plots...)))
	a.Show(d, WeightsView)
}

func (d *weightsDetails) measure(t *trial.T, a *cli.App, o weightsOptions, dir string) {
	bar := a.Progress(0)
	defer bar.Stop()
	e := trial.Must(engine.Open(t.Ctx, engine.Soft, engine.AllowOffsets()))
	t.Closing(e.Close)
	sizes := weightbench.Sizes(dir, min(o.most, 1<<40)<<20, procmem.Available())
	if len(sizes) == 0 {
		trial.NoError(cli.Badf("a file of 64 MiB takes more than half of the free space of %s, or of the available "+
			"memory; name a folder with more space with --dir, or free memory", filepath.Dir(dir)))
	}
	if next := int64(64) << len(sizes); next <= o.most {
		d.Skipped = append(d.Skipped, skippedStep{"load", fmt.Sprintf("a file of %d MiB takes more than half of the "+
			"free space of %s, or of the available memory: give --dir, or free memory", next, filepath.Dir(dir))})
	}
	for i, size := range sizes {
		path := filepath.Join(dir, "m.safetensors")
		bar.Now(fmt.Sprintf("loading %d MiB", size>>20))
		trial.NoError(weightbench.Make(path, size))
		d.Load = append(d.Load, trial.Must(weightbench.Load(t.Ctx, path, false, o.rounds)))
		cold, err := weightbench.Load(t.Ctx, path, true, o.rounds)
		if !errors.Is(err, errors.ErrUnsupported) {
			d.Load = append(d.Load, trial.Must(cold, err))
		}
		if i == 0 {
			bar.Now("evaluating")
			for _, way := range []string{weightbench.Read, weightbench.Map} {
				d.Infer = append(d.Infer, trial.Must(weightbench.Infer(t.Ctx, e, path, way, o.rounds)))
			}
		}
		trial.NoError(os.Remove(path))
	}
	bar.Now("filling caches")
	d.Reserve = trial.Must(weightbench.Reserve(t.Ctx, 0, 2048, 4096))
}

// WeightsView lays out ways to load weights, and what reserved memory of a cache costs.
func WeightsView(d *doc.Doc, v *doc.Value) {
	load, published := v.Items("load"), v.Items("published", "variants")
	times := doc.NewTable("Time to load a file", "size", "page cache|cache", "#map", "#touch", "#read", "#parallel", "#direct",
		"#ring", "#read/touch|of touch")
	plots := d.Figures()
	for _, state := range []string{"warm", "cold"} {
		var files []*doc.Value
		for _, l := range load {
			if l.At("cold").Yes() == (state == "cold") {
				files = append(files, l)
			}
		}
		for _, l := range files {
			cells := []doc.Cell{l.Size("bytes"), doc.Words("%s", state)}
			for _, way := range weightbench.Ways() {
				cells = append(cells, l.Time("times_ns", way))
			}
			ratio := l.At("times_ns", weightbench.Read).Float() / l.At("times_ns", weightbench.Touch).Float()
			times.Row(append(cells, doc.Nothing().Brief("%.2fx", ratio))...)
		}
		c := &doc.Chart{X: doc.Axis{Form: doc.SizeOf, Log: true, Step: 2}, Y: doc.Axis{Form: doc.DurationOf(1), Log: true}}
		p := doc.Plot{Title: doc.Words("Time to load, %s", state), Caption: doc.Line("less is better")}
		for i, way := range weightbench.Ways() {
			c.Add(through(files, "bytes", "times_ns/"+way, doc.Curve{Color: doc.Series(i), Dots: true}))
			p.Legend = append(p.Legend, doc.SeriesMark("", i, doc.Words("%s", way)))
		}
		plots.Add(c, p, "Time over the size of the file, a line for each way to load it.")
	}
	const source = "Published: OptMLX, %s, MLX on an M4 Max"
	sizes := doc.NewTable(fmt.Sprintf(source, "tables 1 and 2"), "model|paper: model", "#size", "#standard",
		"#map", "#speedup")
	effect := doc.NewTable(fmt.Sprintf(source, "table 3"), "model|paper: model", "#load", "#with map|mmap", "#prompt",
		"#with map|mmap", "#generate|gen", "#with map|mmap", "#peak", "#with map|mmap")
	for _, m := range published {
		sizes.Row(m.Text("model"), m.Digits("gb").In("GB"), m.At("load_ns").Item(0).Time(), m.At("load_ns").Item(1).Time(),
			m.Ratio("speedup"))
		cells := []doc.Cell{m.Text("model"), m.At("start_ns").Item(0).Time(), m.At("start_ns").Item(1).Time()}
		for _, key := range []string{"prompt_per_s", "generate_per_s"} {
			cells = append(cells, m.At(key).Item(0).PerSecond(), m.At(key).Item(1).PerSecond())
		}
		peak := m.At("peak_gb")
		effect.Row(append(cells, peak.Item(0).Digits().In("GB"), peak.Item(1).Digits().In("GB"))...)
	}
	d.Section("Time to load", nil, plots, times, sizes)
	infer := doc.NewTable("Evaluations with the weights as inputs", "weights", "#size", "#load", "#first", "#prompt",
		"#generate", "#moved", "#own memory", "#of the file")
	for _, i := range v.Items("infer") {
		infer.Row(i.Text("way"), i.Size("bytes"), i.Time("load_ns"), i.Time("first_ns"), i.PerSecond("prompt_per_s"),
			i.PerSecond("generate_per_s"), i.Size("moved_bytes"), i.Size("own_bytes"), i.Size("file_bytes"))
	}
	d.Section("Evaluations", nil, infer, effect)
	showCaches(d, v.Items("reserve"), v.Items("published", "reserve"))
	d.Section("Skipped", nil, skipped(v.Items("skipped_suites")))
}
