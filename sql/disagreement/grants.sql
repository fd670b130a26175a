grant execute on function textrawl.disagreement, textrawl.read_claim to textrawl_analyst;
