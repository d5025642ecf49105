"""Skills: documents that tell a model how to do a job, found when a prompt asks for that job."""
