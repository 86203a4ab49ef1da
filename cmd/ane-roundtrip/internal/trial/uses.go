package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// UsesCheck is the name of the check of use counts. Only macOS has them.
const UsesCheck = "sharing/uses"

// usesChecks names the check of uses where Blocks are surfaces that have use counts.
func usesChecks() []string {
	if host.Mac {
		return []string{UsesCheck}
	}
	return nil
}

// uses looks whether the system marks the caller's own surface as in use while the engine has it. A driver that does so
// works on that surface; one that does not shows nothing.
func uses(ctx context.Context, d *ane.Device, m models.Model) (checks []Check, err error) {
	r, err := modelRig(ctx, d, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	check, err := r.uses(ctx)
	return []Check{check}, err
}

func (r *Rig) uses(ctx context.Context) (Check, error) {
	b := r.In["x"].Block()
	var seen useRecord
	seen.look("bound", b)
	outcome := r.Request.EvaluateAsync(ctx)
	for evaluated := false; !evaluated; {
		select {
		case o := <-outcome:
			if o.Err != nil {
				return Check{}, o.Err
			}
			evaluated = true
		default:
		}
		seen.look("evaluating", b)
	}
	if err := r.Request.Close(); err != nil {
		return Check{}, err
	}
	seen.look("closed", b)
	return seen.check(), nil
}

// useRecord is the most uses of a surface at each stage.
type useRecord struct {
	stages []string
	counts []int
	used   []bool
	mute   bool // the library has no use counts
}

func (u *useRecord) look(stage string, b *unimem.Block) {
	count, used, known := b.Uses()
	u.mute = u.mute || !known
	last := len(u.stages) - 1
	if last < 0 || u.stages[last] != stage {
		u.stages, u.counts, u.used = append(u.stages, stage), append(u.counts, 0), append(u.used, false)
		last++
	}
	u.counts[last], u.used[last] = max(u.counts[last], count), u.used[last] || used
}

// check passes if the surface was in use at a stage before the last, and not at the last, after the engine has let it go.
func (u *useRecord) check() Check {
	if u.mute {
		return Skipped(UsesCheck, "surfaces have no use counts here")
	}
	var all []string
	most, used := 0, false
	for i, stage := range u.stages {
		word := "not in use"
		if u.used[i] {
			word = "in use"
		}
		all = append(all, fmt.Sprintf("%s: %s, %d by this process", stage, word, u.counts[i]))
		if i < len(u.stages)-1 {
			most, used = max(most, u.counts[i]), used || u.used[i]
		}
	}
	text := strings.Join(all, "; ")
	if u.used[len(u.used)-1] {
		return Skipped(UsesCheck, "the surface is in use without the engine too, which shows nothing (%s)", text)
	}
	if !used {
		return Skipped(UsesCheck, "the engine marks no surface as in use, which shows nothing (%s)", text)
	}
	return Judge(UsesCheck, true, float64(most), "uses", "%s", text)
}
