package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/report"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/weightbench"
	"github.com/anekit/anekit/internal/wholefile"
)

// benchWeightsOptions are the flags of bench weights.
type benchWeightsOptions struct {
	dir, plots string
	most       int64 // MiB
	rounds     int
}

func benchWeightsCommand(a *cli.App) *cobra.Command {
	var o benchWeightsOptions
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
			return benchWeights(a, cmd.Context(), o)
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

// benchWeightsDetails are the fields that bench weights adds to the report.
type benchWeightsDetails struct {
	Load    []weightbench.Loaded   `json:"load"`
	Infer   []weightbench.Inferred `json:"infer"`
	Reserve []weightbench.Kept     `json:"reserve"`
	Skipped []skippedStep          `json:"skipped_suites,omitempty"`

	Published weightbench.Paper `json:"published"`
}

func benchWeights(a *cli.App, ctx context.Context, o benchWeightsOptions) (err error) {
	switch {
	case o.most < 64:
		return cli.Badf("--max-mib %d; give 64 or more", o.most)
	case o.rounds < 1:
		return cli.Badf("--rounds %d; give 1 or more", o.rounds)
	}
	// The files are begun before the measurement: a command that cannot write them fails at once.
	var plots []*wholefile.File
	for _, name := range []string{"load.svg", "cache.svg"} {
		if o.plots == "" {
			break
		}
		f, err := a.CreateOutput("--plots", filepath.Join(o.plots, name))
		if err != nil {
			return err
		}
		defer f.Discard()
		plots = append(plots, f)
	}
	dir, err := os.MkdirTemp(o.dir, "ane-weights")
	if err != nil {
		return cli.Badf("--dir: %w; name a folder that exists and can be written", err)
	}
	bar := a.Progress(0)
	d, err := measureWeights(ctx, o, dir, bar.Now)
	bar.Stop()
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return err
	}
	object, err := json.Marshal(map[string]any{"command": "bench", "details": d})
	if err != nil {
		return err
	}
	for i, f := range plots {
		text, err := report.Drawing(object, []string{"Time to load", "Keys and values"}[i])
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			return cli.WriteError("--plots", err)
		}
	}
	if err := wholefile.CommitAll(plots...); err != nil {
		return cli.WriteError("--plots", err)
	}
	r := cli.NewReport(nil)
	r.Details = d
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	return d.print(a)
}

func measureWeights(ctx context.Context, o benchWeightsOptions, dir string,
	now func(string)) (*benchWeightsDetails, error) {
	d := &benchWeightsDetails{Load: []weightbench.Loaded{}, Infer: []weightbench.Inferred{},
		Published: weightbench.Published()}
	e, err := engine.Open(ctx, engine.Soft, engine.AllowOffsets())
	if err != nil {
		return nil, err
	}
	defer e.Close() // its models are closed
	sizes := weightbench.Sizes(dir, min(o.most, 1<<40)<<20, procmem.Available())
	if len(sizes) == 0 {
		return nil, cli.Badf("a file of 64 MiB takes more than half of the free space of %s, or of the available memory; "+
			"name a folder with more space with --dir, or free memory", filepath.Dir(dir))
	}
	if next := int64(64) << len(sizes); next <= o.most {
		d.Skipped = append(d.Skipped, skippedStep{"load", fmt.Sprintf("a file of %d MiB takes more than half of the "+
			"free space of %s, or of the available memory: give --dir, or free memory", next, filepath.Dir(dir))})
	}
	for i, size := range sizes {
		path := filepath.Join(dir, "m.safetensors")
		now(fmt.Sprintf("loading %d MiB", size>>20))
		if err := weightbench.Make(path, size); err != nil {
			return nil, err
		}
		for _, cold := range []bool{false, true} {
			l, err := weightbench.Load(ctx, path, cold, o.rounds)
			if cold && errors.Is(err, errors.ErrUnsupported) {
				continue
			}
			if err != nil {
				return nil, err
			}
			d.Load = append(d.Load, l)
		}
		if i == 0 {
			now("evaluating")
			for _, way := range []string{weightbench.Read, weightbench.Map} {
				row, err := weightbench.Infer(ctx, e, path, way, o.rounds)
				if err != nil {
					return nil, err
				}
				d.Infer = append(d.Infer, row)
			}
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	now("filling caches")
	d.Reserve, err = weightbench.Reserve(ctx, 0, 2048, 4096)
	return d, err
}

// print writes our tables and the paper's.
func (d *benchWeightsDetails) print(a *cli.App) error {
	ms := func(v time.Duration) string { return figure(1000 * v.Seconds()) }
	load := page.NewTable("MiB", "cache", "map", "touch", "read", "parallel", "direct", "ring", "read/touch")
	for _, l := range d.Load {
		row := []string{fmt.Sprint(l.Bytes >> 20), "warm"}
		if l.Cold {
			row[1] = "cold"
		}
		for _, way := range weightbench.Ways() {
			row = append(row, ms(l.Times[way]))
		}
		load.Row(append(row, fmt.Sprintf("%.2f", float64(l.Times[weightbench.Read])/float64(l.Times[weightbench.Touch])))...)
	}
	sizes := page.NewTable("paper: model", "GB", "standard s", "mmap s", "speedup")
	effect := page.NewTable("paper: model", "load s", "mmap", "prompt t/s", "mmap", "gen t/s", "mmap",
		"peak GB", "mmap")
	for _, v := range d.Published.Variants {
		sizes.Row(v.Model, fmt.Sprint(v.GB), fmt.Sprint(v.Load[0].Seconds()), fmt.Sprint(v.Load[1].Seconds()),
			fmt.Sprint(v.Speedup))
		row := []string{v.Model, fmt.Sprint(v.Start[0].Seconds()), fmt.Sprint(v.Start[1].Seconds())}
		for _, pair := range [][2]float64{v.Prompt, v.Generate, v.Peak} {
			row = append(row, fmt.Sprint(pair[0]), fmt.Sprint(pair[1]))
		}
		effect.Row(row...)
	}
	infer := page.NewTable("weights", "MiB", "load ms", "first ms", "prompt t/s", "gen t/s", "moved", "own", "file")
	for _, i := range d.Infer {
		infer.Row(i.Way, fmt.Sprint(i.Bytes>>20), ms(i.Load), ms(i.First), figure(i.Prompt), figure(i.Generate),
			fmt.Sprint(i.Moved>>20), fmt.Sprint(i.Own>>20), fmt.Sprint(i.Files>>20))
	}
	skipped := ""
	for _, s := range d.Skipped {
		skipped += fmt.Sprintf("skipped: %s: %s\n", s.Step, s.Reason)
	}
	return printAll(a, "Time to load, in ms\n", load, "\n", sizes,
		"\nEvaluations; moved, own and files' memory in MiB\n", infer, "\n", effect, "\nKeys and values\n",
		keptTable(d.Reserve), "\n", paperTable(d.Published.Reserve), "\n"+memoryPlot(d.Reserve)+skipped)
}
