package machine

// Count is the value of one counter while a function ran.
type Count struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	// Unavailable is the reason why there is no value, "" if there is one.
	Unavailable string `json:"unavailable,omitempty"`
}
