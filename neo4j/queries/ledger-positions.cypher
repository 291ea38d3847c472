// Which ledgers feed this graph, and how far has each come?
//
// One row for every ledger: the place of the last of its records that is here.
//
// Parameters and their defaults:
// :param ledger_id => ''

MATCH (ledger:Ledger)
WHERE $ledger_id = '' OR ledger.ledger_id = $ledger_id
RETURN ledger.ledger_id AS ledger_id, ledger.seq AS seq
ORDER BY ledger_id
