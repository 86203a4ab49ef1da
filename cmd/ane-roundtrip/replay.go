package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/models"
)

// replayName is what the program of a dump is called in reports.
const replayName = "replay"

// replay returns a model with the very tensors of the program in the dump that the
// stand-in replays, so that the engine meets what the dump says of them. m is nil where
// there is none; check then tells why, or is nil when nothing is replayed.
func replay(name string) (m *models.Model, check *trial.Check) {
	replayed, ok := standin.Replayed()
	if name != engine.StandIn || !ok {
		return nil, nil
	}
	file := replayed.File
	told := func(status, format string, args ...any) (*models.Model, *trial.Check) {
		c := trial.Skipped(replayName+"/attributes", "%s", oneLine(fmt.Sprintf(format, args...)))
		c.Status = status
		return nil, &c
	}
	v, err := plist.ReadFile(file)
	if err != nil {
		return told(trial.Fail, "%v", err)
	}
	found, ok := attributes.Search(v)
	if !ok {
		return told(trial.Skip, "%s has no compiled program; %s", file, inForce(replayed))
	}
	p, err := attributes.Read(found)
	switch {
	case errors.Is(err, attributes.ErrImage):
		return told(trial.Skip, "%v", err)
	case err != nil:
		return told(trial.Fail, "%v", err)
	case len(p.Procedures) > 1:
		return told(trial.Skip, "%s has a program of %d procedures; one is run", file, len(p.Procedures))
	case len(p.Procedures[0].Unplaced) > 0:
		return told(trial.Skip, "%s has no entry that says where %s stands", file,
			strings.Join(p.Procedures[0].Unplaced, ", "))
	}
	q := p.Procedures[0]
	between, err := models.Between(replayName, variables(q.Inputs), variables(q.Outputs))
	if err != nil { // of the program that would be run, not of the machine
		return told(trial.Skip, "%s: its tensors can be placed, but not be those of a program that is run here: %v",
			file, err)
	}
	return &between, nil
}

// inForce tells how much of a dump without a program the stand-in answers with.
func inForce(d *standin.Dump) string {
	const most = 8 // names on a line
	const told = "what it says of errors, devices and limits is in force"
	names := d.Ignored
	if len(names) == 0 {
		return told
	}
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	return told + ", except " + strings.Join(names, ", ")
}

// variables declares tensors with the axes that the attributes have.
func variables(tensors []attributes.Tensor) []mil.Var {
	vars := make([]mil.Var, len(tensors))
	for i, t := range tensors {
		vars[i] = mil.Var{Name: t.Name, Type: mil.TensorOf(t.Layout.DType, t.Layout.Shape...)}
	}
	return vars
}

// withReplay adds the program of a dump to the models that are tried on a device.
func withReplay(d *ane.Device, all []models.Model) ([]models.Model, []trial.Check) {
	m, check := replay(d.Receipt().Engine)
	if m != nil {
		all = append(all, *m)
	}
	if check != nil {
		return all, []trial.Check{*check}
	}
	return all, nil
}
