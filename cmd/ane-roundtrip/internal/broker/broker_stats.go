package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker/driver"
)

// statsOptions are the flags of broker stats.
type statsOptions struct {
	socket     string
	timeout    time.Duration
	prometheus bool
}

// statsTime bounds the wait for a broker's answer, which takes no work, unless --timeout is given.
const statsTime = 3 * time.Second

func brokerStatsCommand(a *cli.App) *cobra.Command {
	var o statsOptions
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Print what a running broker uses and has counted",
		Long: `stats prints what the clients of the broker at a socket use of each budget, its
counters, and the requests of each class. It takes none of the broker's places
for clients, and does not keep a broker from ending by itself. The status is 3
if no broker listens at the socket, or none answers within --timeout.

With --prometheus it prints the text format that Prometheus reads, for instance
for the textfile collector of node_exporter. Names begin with anekit_broker_;
units are seconds and bytes.`,
		Example: `  ane-roundtrip broker stats
  ane-roundtrip broker stats --prometheus >/var/lib/node_exporter/anekit.prom`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.prometheus && a.JSON {
				return cli.Badf("--prometheus and --json are two forms of the same; leave one of them out")
			}
			if o.timeout <= 0 {
				return cli.Badf("--timeout %v; give a time above 0", o.timeout)
			}
			return printStats(a, cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.socket, "socket", brokerSocket(), "`PATH` of the broker's socket")
	cmd.Flags().DurationVar(&o.timeout, "timeout", statsTime, "`TIME` to wait for the answer")
	cmd.Flags().BoolVar(&o.prometheus, "prometheus", false, "print the text format of Prometheus")
	a.JSONFlag(cmd)
	return cmd
}

// brokerStats holds what broker stats prints.
type brokerStats struct {
	Socket   string          `json:"socket"`
	Budgets  []brokerBudget  `json:"budgets"`
	Counters []brokerCounter `json:"counters"`
	Classes  []brokerClass   `json:"classes"`
}

// brokerBudget is something of which the broker has only so much.
type brokerBudget struct {
	Name      string `json:"name"`
	Unit      string `json:"unit"` // empty or bytes
	Used      uint64 `json:"used"`
	Allowed   uint64 `json:"allowed"`
	PerClient uint64 `json:"per_client"` // what one client may have of it, or 0 where that is not bounded
	Refused   uint64 `json:"refused"`
}

type brokerCounter struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// brokerClass is the requests of one quality of service.
type brokerClass struct {
	Class       string `json:"class"`
	Sent        uint64 `json:"sent"`
	Completed   uint64 `json:"completed"`
	Failed      uint64 `json:"failed"`
	Cancelled   uint64 `json:"cancelled"`
	TimedOut    uint64 `json:"timed_out"`
	Refused     uint64 `json:"refused"`
	Waiting     uint64 `json:"waiting"`
	MostWaiting uint64 `json:"most_waiting"`
	LongestWait uint64 `json:"longest_wait_ns"`
}

// printStats asks a broker and prints its answer.
func printStats(a *cli.App, ctx context.Context, o statsOptions) error {
	waiting, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	named, err := broker.Statistics(waiting, o.socket)
	if errors.Is(err, ane.ErrDeadline) && ctx.Err() == nil {
		return &ane.Error{Op: "stats", Engine: broker.Name, Name: o.socket, Err: ane.ErrUnavailable,
			Detail: fmt.Sprintf("a process listens there and did not answer within %v", o.timeout),
			Hint:   "give it longer with --timeout, or restart it if it is frozen"}
	}
	if err != nil {
		return err
	}
	if o.prometheus {
		_, err := a.Out.Write(PrometheusText(named))
		return err
	}
	s := brokerStatsOf(o.socket, named)
	if a.JSON {
		r := cli.NewReport(nil)
		r.Details = s
		a.Deliver(r)
		return nil
	}
	return s.print(a)
}

// level is the counter's name of a class.
func level(class driverabi.QoSClass, name string) string {
	return fmt.Sprintf("level %d %s", driver.LevelOf(class.QoS), name)
}

// brokerStatsOf sorts counters by what they are about.
func brokerStatsOf(socket string, named map[string]uint64) *brokerStats {
	s := &brokerStats{Socket: socket}
	for _, b := range []struct{ name, unit, used, each, refused string }{
		{"clients", "", "clients", "", "clients refused"},
		{"mappings", "", "mappings", "own mappings allowed", "refused for want of mappings"},
		{"descriptors", "", "descriptors", "own descriptors allowed", "refused for want of descriptors"},
		{"memory", "bytes", "bytes of memory", "own bytes of memory allowed", "refused for want of memory"},
	} {
		s.Budgets = append(s.Budgets, brokerBudget{Name: b.name, Unit: b.unit, Used: named[b.used],
			Allowed: named[b.used+" allowed"], PerClient: named[b.each], Refused: named[b.refused]})
	}
	for _, m := range BrokerMetrics() {
		if m.budget {
			continue
		}
		if v, ok := named[m.Counter]; ok { // a broker of another release may lack it
			name := m.Counter
			if own, ok := strings.CutPrefix(name, "own "); ok {
				name = own + " per client"
			}
			s.Counters = append(s.Counters, brokerCounter{name, v})
		}
	}
	for _, class := range driverabi.QoSClasses() {
		of := func(name string) uint64 { return named[level(class, name)] }
		s.Classes = append(s.Classes, brokerClass{Class: class.Name, Sent: of("sent"), Completed: of("completed"),
			Failed: of("failed"), Cancelled: of("cancelled"), TimedOut: of("timed out"), Refused: of("refused"),
			Waiting: of("waiting"), MostWaiting: of("most waiting"), LongestWait: of("longest wait ns")})
	}
	return s
}

// print writes the tables.
func (s *brokerStats) print(a *cli.App) error {
	if err := a.Printf("broker at %s\n\n", cli.Visible(s.Socket)); err != nil {
		return err
	}
	number := func(v uint64) string { return strconv.FormatUint(v, 10) }
	budgets := page.NewTable("budget", "used", "allowed", "per client", "refused")
	for _, b := range s.Budgets {
		amount := number
		if b.Unit == "bytes" {
			amount = mebibytes
		}
		each := "-"
		if b.PerClient > 0 {
			each = amount(b.PerClient)
		}
		budgets.Row(b.Name, amount(b.Used), amount(b.Allowed), each, number(b.Refused))
	}
	counters := page.NewTable("counter", "value")
	for _, c := range s.Counters {
		counters.Row(c.Name, number(c.Value))
	}
	classes := page.NewTable("class", "sent", "completed", "failed", "cancelled", "timed out", "refused")
	queues := page.NewTable("queue", "waiting", "most waiting", "longest wait") // apart, for lines of 80 columns
	for _, c := range s.Classes {
		classes.Row(c.Class, number(c.Sent), number(c.Completed), number(c.Failed), number(c.Cancelled),
			number(c.TimedOut), number(c.Refused))
		queues.Row(c.Class, number(c.Waiting), number(c.MostWaiting), cli.Brief(time.Duration(c.LongestWait)))
	}
	return a.Tables(budgets, classes, queues, counters)
}

// mebibytes formats a size.
func mebibytes(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// PrometheusText is the counters in the text exposition format, version 0.0.4.
func PrometheusText(named map[string]uint64) []byte {
	var b strings.Builder
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	for _, m := range BrokerMetrics() {
		if v, ok := named[m.Counter]; ok {
			name, kind := m.full()
			head(name, kind, m.help)
			fmt.Fprintf(&b, "%s %d\n", name, v)
		}
	}
	for _, m := range ClassMetrics() {
		name, kind := m.full()
		head(name, kind, m.help)
		for _, class := range driverabi.QoSClasses() {
			value := strconv.FormatUint(named[level(class, m.Counter)], 10)
			if m.nanoseconds {
				value = strconv.FormatFloat(time.Duration(named[level(class, m.Counter)]).Seconds(), 'g', -1, 64)
			}
			fmt.Fprintf(&b, "%s{class=%q} %s\n", name, strings.ReplaceAll(class.Name, " ", "_"), value)
		}
	}
	return []byte(b.String())
}
