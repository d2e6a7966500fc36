package machine

// Count is what one counter counted while a function ran.
type Count struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	// Unavailable is why there is no value, "" where there is one.
	Unavailable string `json:"unavailable,omitempty"`
}
