package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/plist"
)

// statsTime bounds the wait for a broker's answer, which takes no work, unless --timeout is given.
const statsTime = 3 * time.Second

func statsCommand(a *cli.App) *cobra.Command {
	var socket string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Print what a running broker uses and has counted",
		Long: `stats prints what the clients of the broker at a socket use of each budget, its
counters, and the requests of each class. It takes none of the broker's places
for clients, and does not keep a broker from ending by itself. The status is 3
if no broker listens at the socket, or none answers within --timeout.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return cli.Badf("--timeout %v; give a time above 0", timeout)
			}
			waiting, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			named, err := broker.Statistics(waiting, socket)
			if errors.Is(err, ane.ErrDeadline) && cmd.Context().Err() == nil {
				return &ane.Error{Op: "stats", Engine: broker.Name, Name: socket, Err: ane.ErrUnavailable,
					Detail: fmt.Sprintf("a process listens there and did not answer within %v", timeout),
					Hint:   "give it longer with --timeout, or restart it if it is frozen"}
			}
			if err != nil {
				return err
			}
			r := cli.NewReport(nil)
			r.Details, r.View = statsOf(socket, named), StatsView
			a.Deliver(r)
			return nil
		},
	}
	cmd.Flags().StringVar(&socket, "socket", socketPath(), "`PATH` of the broker's socket")
	cmd.Flags().DurationVar(&timeout, "timeout", statsTime, "`TIME` to wait for the answer")
	a.JSONFlag(cmd)
	return cmd
}

// counters are the broker's names of what it counts beside budgets and classes.
func counters() []string {
	return []string{"clients admitted", "faults", "panics",
		"compiles", "compiles from the cache", "compiles from memory",
		"cache entries damaged", "programs not cached", "instances", "programs in memory", "programs loaded",
		"surfaces mapped", "requests waiting", "requests running", "evaluations", "evaluations failed",
		"own surfaces allowed", "own programs allowed", "own requests allowed"}
}

// statsOf sorts counters by what they are about.
func statsOf(socket string, named map[string]uint64) plist.Dict {
	var budgets, classes plist.Array
	for _, b := range []struct{ name, unit, used, each, refused string }{
		{"clients", "", "clients", "", "clients refused"},
		{"mappings", "", "mappings", "own mappings allowed", "refused for want of mappings"},
		{"descriptors", "", "descriptors", "own descriptors allowed", "refused for want of descriptors"},
		{"memory", "bytes", "bytes of memory", "own bytes of memory allowed", "refused for want of memory"},
	} { // 0 per client: not bounded
		budgets = append(budgets, plist.Of("name", b.name, "unit", b.unit, "used", named[b.used],
			"allowed", named[b.used+" allowed"], "per_client", named[b.each], "refused", named[b.refused]))
	}
	shown := plist.Array{}
	for _, name := range counters() {
		if v, ok := named[name]; ok { // a broker of another release may lack it
			if own, ok := strings.CutPrefix(name, "own "); ok {
				name = own + " per client"
			}
			shown = append(shown, plist.Of("name", name, "value", v))
		}
	}
	for _, class := range driverabi.QoSClasses() {
		row := plist.Of("class", class.Name)
		for _, name := range []string{"sent", "completed", "failed", "cancelled", "timed out", "refused", "waiting",
			"most waiting", "longest wait ns"} {
			row = append(row, plist.Of(strings.ReplaceAll(name, " ", "_"),
				named[fmt.Sprintf("level %d %s", class.Queue, name)])...)
		}
		classes = append(classes, row)
	}
	return plist.Of("socket", socket, "budgets", budgets, "counters", shown, "classes", classes)
}

// StatsView lays out what a broker uses and has counted.
func StatsView(d *doc.Doc, v *doc.Value) {
	budgets := doc.NewTable("Budgets", "budget", "#used", "#allowed", "#per client", "#refused")
	for _, b := range v.Items("budgets") {
		amount := func(key string) doc.Cell {
			if b.At("unit").Is("bytes") {
				return b.Size(key).Brief("%.1f MiB", b.At(key).Float()/(1<<20))
			}
			return b.Plain(key)
		}
		budgets.Row(b.Text("name"), amount("used"), amount("allowed"), amount("per_client").Unless(0),
			b.Plain("refused"))
	}
	classes := doc.NewTable("Classes", "class", "#sent", "#completed", "#failed", "#cancelled", "#timed out", "#refused")
	queues := doc.NewTable("Queues", "queue", "#waiting", "#most waiting", "#longest wait") // apart, for 80 columns
	for _, c := range v.Items("classes") {
		classes.Row(c.Text("class"), c.Plain("sent"), c.Plain("completed"), c.Plain("failed"), c.Plain("cancelled"),
			c.Plain("timed_out"), c.Plain("refused"))
		queues.Row(c.Text("class"), c.Plain("waiting"), c.Plain("most_waiting"), c.Time("longest_wait_ns"))
	}
	counters := doc.NewTable("Counters", "counter", "#value")
	for _, c := range v.Items("counters") {
		counters.Row(c.Text("name"), c.Plain("value"))
	}
	d.Section("Broker", nil, doc.Text("broker at ", v.Text("socket")), budgets, classes, queues, counters)
}
