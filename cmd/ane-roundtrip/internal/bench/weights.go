package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/weightbench"
	"github.com/anekit/anekit/internal/wholefile"
)

// weightsOptions are the flags of bench weights.
type weightsOptions struct {
	dir, plots, models string
	most               int64 // MiB
	rounds             int
}

func weightsCommand(a *cli.App) *cobra.Command {
	var o weightsOptions
	cmd := &cobra.Command{
		Use:   "weights",
		Short: "Measure ways to load weights, and reserved memory of a cache",
		Long: `weights repeats the three suites of the OptMLX paper on models that it makes and
removes: Qwen3 4B, 8B and 14B with random weights of 3, 4, 6 and 8 bits, and as
many of their layers as fit in --max-mib, and in a quarter of the free space and
of the available memory. The first suite measures the time to load by a map, by
reads, by direct I/O and as auto chooses, warm, and after a request to drop the
file from the page cache. The second measures a decoder with weights mapped and
read: load, prompt, generation and peak memory. The third measures one whose
keys and values grow, or are reserved for 2048 and 4096 tokens, with models of 4
bits. It prints the paper's tables too, measured with MLX on an M4 Max.

It also prints the table by which auto chooses: map against read over the size,
the part in the page cache and the pressure on memory, by control groups where
it may make some, and the regret: the time of the chosen way over the better.

--report FILE writes the JSON object to FILE.json, or a page of it with plots to
FILE.html; also on failure.`,
		Example: `  ane-roundtrip bench weights --max-mib 8192 --plots .
  ane-roundtrip bench weights --models qwen3-4b-4bit,qwen3-4b-8bit --repeat 1`,
		Args: cli.NoArgs,
		RunE: reporting(a, func(t *trial.T) { o.run(t, a) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "`FOLDER` for the files (default: that of temporary files)")
	f.StringVar(&o.plots, "plots", "", "`FOLDER` for the plots, load.svg and cache.svg (default: none)")
	f.StringVar(&o.models, "models", "", "`NAMES` with commas between them (default: all of Qwen3)")
	f.Int64Var(&o.most, "max-mib", 2048, "`MIB` of the largest file, 64 or more")
	f.IntVar(&o.rounds, cli.RepeatFlag, 3, "`N` rounds, of which the best counts")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	return cmd
}

// weightsDetails are the fields that bench weights adds to the report.
type weightsDetails struct {
	Load    []weightbench.Loaded `json:"load"`
	Talk    []weightbench.Talked `json:"talk"`
	Grow    []weightbench.Talked `json:"grow"`
	Choose  []weightbench.Chosen `json:"choose"`
	Regret  *regret              `json:"regret,omitempty"`
	Skipped []skippedStep        `json:"skipped_suites,omitempty"`

	Published weightbench.Paper `json:"published"`
}

// regret is that of all rows of choices.
type regret struct {
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
}

// regretOf sums up rows; nil without any.
func regretOf(rows []weightbench.Chosen) *regret {
	if len(rows) == 0 {
		return nil
	}
	sum, worst := 0.0, 0.0
	for _, c := range rows {
		sum, worst = sum+c.Regret, max(worst, c.Regret)
	}
	return &regret{sum / float64(len(rows)), worst}
}

// WeightModels lists the names of models.
func WeightModels() []string { return weightbench.Names(weightbench.Models()) }

// chosen returns the models of --models.
func (o weightsOptions) chosen() (all []weightbench.Model) {
	if o.models == "" {
		return slices.DeleteFunc(weightbench.Models(), func(m weightbench.Model) bool { return m.Name == "tiny" })
	}
	for _, name := range strings.Split(o.models, ",") {
		m, ok := weightbench.Find(strings.TrimSpace(name))
		if !ok {
			trial.NoError(cli.NoSuch("model", name, WeightModels()))
		}
		all = append(all, m)
	}
	return all
}

// run measures ways of loading, evaluations and caches.
func (o weightsOptions) run(t *trial.T, a *cli.App) {
	switch {
	case o.most < 64:
		trial.NoError(cli.Badf("--max-mib %d; give 64 or more", o.most))
	case o.rounds < 1:
		trial.NoError(cli.Badf("--rounds %d; give 1 or more", o.rounds))
	}
	models := o.chosen()
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
	d := &weightsDetails{Load: []weightbench.Loaded{}, Talk: []weightbench.Talked{}, Grow: []weightbench.Talked{},
		Choose: []weightbench.Chosen{}, Published: weightbench.Published()}
	t.Scope(func(t *trial.T) {
		t.Closing(func() error { return os.RemoveAll(dir) })
		d.measure(t, a, o, models, dir)
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

func (d *weightsDetails) measure(t *trial.T, a *cli.App, o weightsOptions, models []weightbench.Model, dir string) {
	bar := a.Progress(0)
	defer bar.Stop()
	limit := weightbench.Limit(dir, min(o.most, 1<<40)<<20, procmem.Available())
	sizes := weightbench.Sizes(limit)
	if len(sizes) == 0 {
		trial.NoError(cli.Badf("a file of 64 MiB takes more than a quarter of the free space of %s, or of the available "+
			"memory; name a folder with more space with --dir, or free memory", filepath.Dir(dir)))
	}
	if limit < o.most<<20 {
		d.Skipped = append(d.Skipped, skippedStep{"load", fmt.Sprintf("files above %d MiB take more than a quarter of "+
			"the free space of %s, or of the available memory: give --dir, or free memory", limit>>20,
			filepath.Dir(dir))})
	}
	for _, m := range models {
		m = m.Scaled(limit)
		t.Scope(func(t *trial.T) { d.model(t, bar, o, m, filepath.Join(dir, m.Name)) })
	}
	slices.SortStableFunc(d.Load, func(a, b weightbench.Loaded) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for _, c := range weightbench.Cells(sizes) {
		bar.Now(fmt.Sprintf("map and read of %d MiB, %s", c.Size>>20, c.Pressure))
		row, err := weightbench.Choose(t.Ctx, dir, c, o.rounds)
		if errors.Is(err, errors.ErrUnsupported) {
			d.Skipped = append(d.Skipped, skippedStep{fmt.Sprintf("choice, pressure %s, %g%% of %d MiB warm", c.Pressure,
				100*c.Resident, c.Size>>20), cli.ErrorText(err)})
			continue
		}
		d.Choose = append(d.Choose, trial.Must(row, err))
	}
	d.Regret = regretOf(d.Choose)
}

// model makes a model, measures the suites with it and removes it.
func (d *weightsDetails) model(t *trial.T, bar *cli.Progress, o weightsOptions, m weightbench.Model, dir string) {
	bar.Now("make " + m.Name)
	trial.NoError(os.Mkdir(dir, 0o700))
	t.Closing(func() error { return os.RemoveAll(dir) })
	trial.NoError(m.Make(dir))
	bar.Now("load " + m.Name)
	for _, cold := range []bool{false, true} {
		row, err := weightbench.Load(t.Ctx, filepath.Join(dir, "model.safetensors"), m, cold, o.rounds)
		if !errors.Is(err, errors.ErrUnsupported) {
			d.Load = append(d.Load, trial.Must(row, err))
		}
	}
	bar.Now("talk with " + m.Name)
	d.Talk = append(d.Talk, trial.Must(weightbench.Talk(t.Ctx, dir, m, o.rounds))...)
	if m.FourBit() {
		bar.Now("keys and values of " + m.Name)
		d.Grow = append(d.Grow, trial.Must(weightbench.Grow(t.Ctx, dir, m, 0, 2048, 4096))...)
	}
}

// WeightsView lays out ways to load weights, and what reserved memory of a cache costs.
func WeightsView(d *doc.Doc, v *doc.Value) {
	load, published := v.Items("load"), v.Items("published", "variants")
	columns := []string{"model", "#layers", "#size", "page cache|cache"}
	for _, way := range weightbench.Ways() {
		columns = append(columns, "#"+way)
	}
	times := doc.NewTable("Time to load a model", append(columns, "#read/touch|of touch")...)
	plots := d.Figures()
	for _, state := range []string{"warm", "cold"} {
		var files []*doc.Value
		for _, l := range load {
			if l.At("cold").Yes() == (state == "cold") {
				files = append(files, l)
			}
		}
		for _, l := range files {
			cells := append(scale(l), l.Size("bytes"), doc.Words("%s", state))
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
	talk := doc.NewTable("A decoder with weights read and mapped", "model", "#layers", "weights", "#size", "#load",
		"#first token", "#prompt", "#generate", "#peak")
	for _, r := range v.Items("talk") {
		talk.Row(append(scale(r), r.Text("way"), r.Size("bytes"), r.Time("load_ns"), r.Time("first_ns"),
			r.PerSecond("prompt_per_s"), r.PerSecond("generate_per_s"), r.Size("peak_bytes"))...)
	}
	d.Section("Through a model", nil, talk, effect)
	showGrowth(d, v.Items("grow"), v.Items("published", "reserve"))
	showChoices(d, v.Items("choose"), v.At("regret"))
	d.Section("Skipped", nil, skipped(v.Items("skipped_suites")))
}

// scale is a model and how much of it was measured.
func scale(v *doc.Value) []doc.Cell {
	layers := v.Plain("layers")
	return []doc.Cell{v.Text("model"), layers.Brief("%s of %s", layers, v.Plain("all_layers"))}
}

// showGrowth shows decoders whose keys and values grow or are reserved, beside published figures.
func showGrowth(d *doc.Doc, all, published []*doc.Value) {
	if len(all) == 0 {
		return
	}
	var caches []*doc.Value // of the first model
	t := doc.NewTable("A decoder whose keys and values grow or are reserved", "model", "#layers", "cache", "#first token",
		"#prompt", "#generate", "#peak", "#beyond dynamic", "#keys and values", "#moved on growth|copied")
	for _, r := range all {
		kv := r.At("kv")
		t.Row(append(scale(r), kv.Text("mode"), r.Time("first_ns"), r.PerSecond("prompt_per_s"),
			r.PerSecond("generate_per_s"), r.Size("peak_bytes"), r.Size("added_bytes"), kv.Size("bytes"),
			kv.Size("copied_bytes"))...)
		if r.At("model").Raw == all[0].At("model").Raw {
			caches = append(caches, kv)
		}
	}
	paper := doc.NewTable("Published: OptMLX, table 4, MLX on an M4 Max", "model|paper: model", "cache",
		"#first token", "#prompt", "#generate", "#peak", "#beyond dynamic")
	for _, r := range published {
		paper.Row(r.Text("model"), r.Text("mode"), r.Time("first_ns"), r.PerSecond("prompt_per_s"),
			r.PerSecond("generate_per_s"), r.Digits("peak_gb").In("GB"), r.Digits("delta_gb").In("GB"))
	}
	showCaches(d, caches, "keys and values of "+all[0].At("model").Raw, t, paper)
}

// showChoices shows the table by which Auto decides, and its regret.
func showChoices(d *doc.Doc, all []*doc.Value, regret *doc.Value) {
	if len(all) == 0 {
		return
	}
	t := doc.NewTable("Map against read: a load and two passes over all bytes", "pressure on memory", "#size",
		"#in the page cache|warm", "#map", "#read", "#auto", "chosen", "#regret", "~reason")
	for _, r := range all {
		chosen := "read"
		if r.At("mapped").Yes() {
			chosen = "map"
		}
		cells := []doc.Cell{r.Text("pressure"), r.Size("bytes"), r.Percent("resident")}
		for _, way := range []string{"map", "read", "auto"} {
			cell := doc.Words("killed")
			if r.At("times_ns", way).Here() {
				cell = r.Time("times_ns", way)
			}
			cells = append(cells, cell)
		}
		t.Row(append(cells, doc.Words("%s", chosen), r.Ratio("regret"), r.Text("why"))...)
	}
	d.Section("What auto chooses", nil, t, doc.Text("The chosen way takes ", regret.Ratio("mean"),
		" the time of the better one in the mean, ", regret.Ratio("worst"), " at most."))
}
