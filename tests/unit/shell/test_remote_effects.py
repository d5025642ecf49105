"""How far a command reaches, whatever stands before its verb and however its options are written."""

import pytest

from snell.shell.effects import Effects, effects_of

EXTERNAL = r"""
curl -sd a=b http://x
curl -Ffile=@a http://x
curl -da=b http://x
curl -sSXPOST http://x
curl -X=PATCH http://x
curl --request=PUT http://x
curl --json '{}' http://x
curl -T f http://x
curl -sT f http://x
curl -H 'A: b' -d @f http://x
curl -K conf
kubectl -n prod scale deploy/x --replicas=0
kubectl --namespace prod delete pod x
kubectl --unknown prod delete pod x
kubectl exec p -- rm x
kubectl rollout restart deploy/x
kubectl -n prod rollout undo deploy/x
kubectl label pod x a=b
kubectl config use-context x && kubectl drain node
gh -R o/r pr create
gh --repo o/r issue close 3
gh pr -R o/r merge 3
gh api -X POST /repos/o/r/issues
gh api repos/o/r/issues -f title=x
gh api --method=DELETE /x
gh workflow run ci.yml
gh repo fork o/r
glab mr create
docker compose push
docker --context x push img
docker -H tcp://h push img
docker compose -f a.yml push
docker image push x
docker buildx build --push .
podman push x
gcloud compute instances delete list-server
gcloud --project p compute instances delete describe-me
gcloud compute instances create list
gcloud --quiet app deploy
aws lambda invoke --function-name x get-out.json
aws s3 rm s3://list/x --recursive
aws --region eu ec2 terminate-instances --instance-ids list
aws --no-cli-pager s3 rm s3://a/b
aws s3 cp f s3://b/f
aws sns publish --topic-arn list
az vm delete -g list -n show
az -g list vm delete
npm --prefix d publish
npm dist-tag add a@1 latest
yarn npm publish
pnpm -r publish
cargo +nightly publish
git -C d push
git --no-pager push
git -c a=b push origin
git send-email x
git lfs push origin main
terraform -chdir=x apply
terraform state rm a.b
tofu destroy
helm -n prod upgrade a b
helm --kube-context list uninstall a
mvn -B clean deploy
./gradlew :lib:publish
gradle publishToMavenCentral
rsync -av a h:b
rsync -e ssh a host:/b
scp -P 22 a h:b
http POST x
http x a=b
xh PUT x
wget --post-data=a h
wget --method=DELETE h
wget --method POST h
vercel deploy
fly deploy
heroku apps:destroy x
gsutil cp a gs://b/
rclone sync a remote:b
fd -x curl -d a http://x
find . -exec curl -d a http://x \;
xargs -n1 curl -X POST < f
dotnet nuget push x
svn commit -m x
ansible-playbook x.yml
twine upload dist/*
yes | sendmail x
bash -c "git push"
timeout 5 git push
"""
LOCAL = r"""
sort -o out f
sort f -o f
sort -uo out f
sort --output=out f
tar -C d -xf a
tar -C d -x -f a
tar --directory=d --extract -f a
tar xfC a d
tar -cvzf a.tgz d
tar uf a d
awk '{print > "out"}' f
awk '{ print $1 >> "out" }' f
awk -F: '{printf "%s" > "out"}' f
awk '{system("rm " $1)}' f
awk '{print | "sh"}' f
sed -n "w out" f
sed 's/a/b/w out' f
sed -ni p f
sed --in-place=.bak s/a/b/ f
perl -pi -e s/a/b/ f
perl -i.bak -pe s/a/b/ f
uniq a b
xxd -r a b
find . -fprint out
find . -name x -delete
date -s tomorrow
date --set=x
hostname new
tree -o out
fd -x rm
rg --pre x y
curl -sSLO http://x/a
curl -D head http://x
curl -c jar http://x
curl --output-dir d -O http://x/a
wget -q http://x/a
git branch new
git branch -D x
git tag v1
git config user.name x
git diff --output=f
git reflog expire --all
git worktree add x
git submodule update
git stash pop
git push --dry-run
git push -n origin
docker run x
docker build .
gh pr checkout 3
gh repo clone o/r
scp h:f .
rsync h:f here
aws s3 cp s3://b/f .
aws configure
helm repo add a b
terraform fmt
python -c "1"
unzip a.zip
echo a | tee f
dd if=a of=b
jq . f > g
sed '5w out' f
sed -e p -e '/a/w out' f
sed 's|a|b|gw out' f
sed 's/a/b/e' f
sed -f s f
awk -f p f
"""
READ_ONLY = r"""
curl -s http://x
curl -sG -d a=b http://x
curl -I http://x
curl -X GET http://x
curl -sSL -H 'X: -d' http://x
curl -u a:b http://x
curl -w '%{http_code}' -o /dev/null -s http://x
curl -A delete http://x
kubectl -n prod get pods
kubectl --namespace delete get pods
kubectl logs -f x
kubectl rollout status deploy/x
kubectl config view
kubectl auth can-i delete pods
kubectl delete pod x --dry-run=client
gh pr list
gh -R o/r pr view 3
gh run list
gh api /repos/o/r
gh api repos/o/r --jq .name
gh api -X GET x -f a=b
gcloud compute instances list
gcloud compute instances describe delete-me
gcloud --project create compute instances list
aws s3 ls s3://b
aws ec2 describe-instances --filters delete
aws sts get-caller-identity
aws --profile delete s3 ls
az vm list -g x
az vm show -g g -n n
sort f
sort -t o -k 2 f
sort -k2,2 -t: f
tar tvf a
tar -tzf a.tgz
tar -C d -tf a
tar -xOf a f
awk '{print $1}' f
awk '$1 > 5' f
awk '{ if ($1 > 3) print $2 }' f
awk -F '>' '{print $2}' f
sed -n 5p f
sed 's/w x/y/' f
sed -E 's/a/b/' f
uniq -c f
xxd f
find . -name '*.py'
find . -exec grep x {} +
date +%s
date -d tomorrow
hostname -f
tree -L 2
fd x
rg x y
git log --oneline
git branch -a
git branch --list 'x*'
git tag -l
git config --get user.name
git remote -v
git stash list
git worktree list
git -C d status
git --no-pager diff
wget --spider http://x
wget -qO- http://x
http GET x
http x
http x a==b
unzip -l a
heroku releases
gsutil ls gs://b
rclone lsd r:
echo 'a > b'
cat f | sort | uniq -c
env | grep X
ls 2>&1 >/dev/null
sed 's/;w x/y/' f
sed '/w x/d' f
awk 'NR>1{print}' f
kubectl
aws --version
"""


@pytest.mark.proves("S3-31")
@pytest.mark.parametrize("line", EXTERNAL.strip().splitlines())
def test_what_sends_or_changes_something_elsewhere_reaches_out(line: str):
    assert effects_of(line).reach == "external"


@pytest.mark.proves("S3-31")
@pytest.mark.parametrize("line", LOCAL.strip().splitlines())
def test_what_changes_something_here_is_near(line: str):
    assert effects_of(line).reach == "local"


@pytest.mark.proves("S3-31")
@pytest.mark.parametrize("line", READ_ONLY.strip().splitlines())
def test_what_only_looks_changes_nothing(line: str):
    assert effects_of(line) == Effects()
