package server

// allowance is what the broker's process may spend on its clients.
type allowance struct {
	mappings int64
	files    int64 // descriptors
	memory   int64 // bytes
	clients  int   // places
}

// or fills in what p does not say.
func (p allowance) or(q allowance) allowance {
	if p.mappings == 0 {
		p.mappings = q.mappings
	}
	if p.files == 0 {
		p.files = q.files
	}
	if p.memory == 0 {
		p.memory = q.memory
	}
	if p.clients == 0 {
		p.clients = q.clients
	}
	return p
}

// placesBeside is how many clients have a place where the broker keeps so many descriptors for itself.
func placesBeside(files int64) int {
	return int(min(max((files-ownFiles)/placeFiles, 1), MaxClients))
}

// spare is what a limit leaves beside a reserve; half of a limit that is smaller than twice that.
func spare(limit, reserve int64) int64 { return max(limit-reserve, limit/2) }
