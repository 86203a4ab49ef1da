package driver

// Stats counts what a Driver holds.
type Stats struct {
	Clients   int
	Programs  int    // added ones
	Weights   int    // added ones
	Instances int    // open ones
	Resident  int    // programs and instances loaded
	Surfaces  int    // added ones
	Mapped    int    // surfaces with a device range
	Bound     int    // prepared Invocations
	Queued    int    // requests in the queue
	Running   int    // 0 or 1
	Created   uint64 // instances ever made
	Completed uint64 // requests ever ended, whatever their result
	Yields    uint64 // requests that ran between two steps of another one
	// Levels are the levels of the queue, by queue index: 0 and 1 are never used, and
	// LevelOf gives the one of a quality of service.
	Levels [Levels]Level
}

// Stats tells what the driver holds.
func (d *Driver) Stats() Stats {
	if !d.made() {
		return Stats{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Stats{
		Clients: len(d.clients), Programs: len(d.programs), Weights: len(d.weights), Instances: d.instances,
		Resident: d.resident, Surfaces: len(d.surfaces), Mapped: d.mapped, Bound: d.bound,
		Queued: d.queue.n, Created: d.created, Completed: d.completed, Yields: d.yields, Levels: d.levels,
	}
	for i := range s.Levels {
		s.Levels[i].Waiting, s.Levels[i].MostWaiting = d.queue.lists[i].n, d.queue.lists[i].most
	}
	if d.running != nil {
		s.Running = 1
	}
	return s
}
